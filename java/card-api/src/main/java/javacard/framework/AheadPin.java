package javacard.framework;

/** A PIN whose tries are taken ahead of the comparison. */
final class AheadPin extends ChangeablePin implements OwnerPINxWithPredecrement {
    /** A try was taken for the next comparison. */
    private final boolean[] taken;

    AheadPin(byte tryLimit, byte maxPINSize) {
        super(tryLimit, maxPINSize);
        taken = JCSystem.makeTransientBooleanArray((short) 1, JCSystem.CLEAR_ON_RESET);
    }

    public byte decrementTriesRemaining() {
        taken[0] = takeTry();
        return getTriesRemaining();
    }

    public boolean check(byte[] pin, short offset, byte length) {
        setValidatedFlag(false);
        boolean isTaken = taken[0];
        taken[0] = false;
        return (isTaken || takeTry()) && compare(pin, offset, length);
    }
}
