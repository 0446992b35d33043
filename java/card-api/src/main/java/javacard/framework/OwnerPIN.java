package javacard.framework;

/** A PIN that the applet which created it may change. It survives tearing: no cut of the power gains a try. */
public class OwnerPIN implements PIN {
    private static final byte NO_VALUE = -1;

    private static final byte SLOTS = 3;

    private byte limit;
    private final byte[] value;
    private byte length;

    /** Tries that are left, by {@link #slot}; changed at once, whatever becomes of an open transaction. */
    private final byte[] tries;

    /**
     * Which of the tries count. Tries that a transaction gives are in another slot, so that those of before survive an
     * abort; it gives them twice at most before it comes round.
     */
    private byte slot;

    private final boolean[] validated;

    /**
     * Creates a PIN without a value.
     *
     * @param tryLimit wrong values at most, at least 1
     * @param maxPINSize bytes at most, at least 1
     * @throws PINException {@link PINException#ILLEGAL_VALUE} for less than 1
     */
    public OwnerPIN(byte tryLimit, byte maxPINSize) throws PINException {
        if (tryLimit < 1 || maxPINSize < 1) {
            PINException.throwIt(PINException.ILLEGAL_VALUE);
        }
        limit = tryLimit;
        value = new byte[maxPINSize];
        length = NO_VALUE;
        tries = new byte[SLOTS];
        Util.arrayFillNonAtomic(tries, (short) 0, SLOTS, tryLimit);
        validated = JCSystem.makeTransientBooleanArray((short) 1, JCSystem.CLEAR_ON_RESET);
    }

    /**
     * Returns the flag in RAM that says whether the right value was shown.
     *
     * @return the flag
     */
    protected boolean getValidatedFlag() {
        return validated[0];
    }

    /**
     * Sets that flag.
     *
     * @param value the flag from now on
     */
    protected void setValidatedFlag(boolean value) {
        validated[0] = value;
    }

    public byte getTriesRemaining() {
        return tries[slot];
    }

    /** The try is taken before anything is compared, so that a cut of the power does not give it back. */
    public boolean check(byte[] pin, short offset, byte length)
            throws ArrayIndexOutOfBoundsException, NullPointerException {
        setValidatedFlag(false);
        if (!takeTry()) {
            return false;
        }
        return compare(pin, offset, length);
    }

    /** Takes a try for good; false where none is left. */
    final boolean takeTry() {
        byte left = tries[slot];
        if (left == 0) {
            return false;
        }
        Util.arrayFillNonAtomic(tries, slot, (short) 1, (byte) (left - 1));
        return true;
    }

    /** Compares a value with the PIN, after a try was taken for it. */
    final boolean compare(byte[] pin, short offset, byte length) {
        checkRange(pin, offset, length);
        // The length is a secret, too: as many bytes are compared as were given, whatever it is.
        short compared = length > value.length ? (short) value.length : length;
        if ((length ^ this.length | Util.arrayCompare(pin, offset, value, (short) 0, compared)) != 0) {
            return false;
        }
        setValidatedFlag(true);
        Util.arrayFillNonAtomic(tries, slot, (short) 1, limit);
        return true;
    }

    public boolean isValidated() {
        return getValidatedFlag();
    }

    public void reset() {
        if (isValidated()) {
            resetAndUnblock();
        }
    }

    /**
     * Sets a new value and restores the tries, both or neither; in an open transaction, as it ends.
     *
     * @param pin the value
     * @param offset where it starts
     * @param length its bytes
     * @throws PINException {@link PINException#ILLEGAL_VALUE} for more bytes than the PIN was created for
     */
    public void update(byte[] pin, short offset, byte length) throws PINException {
        if (length > value.length) {
            PINException.throwIt(PINException.ILLEGAL_VALUE);
        }
        checkRange(pin, offset, length);
        setValidatedFlag(false);
        boolean isOpen = JCSystem.getTransactionDepth() != 0;
        if (!isOpen) {
            JCSystem.beginTransaction();
        }
        Util.arrayCopy(pin, offset, value, (short) 0, length);
        this.length = length;
        giveTries(limit);
        if (!isOpen) {
            JCSystem.commitTransaction();
        }
    }

    /** Forgets that the right value was shown, and restores the tries. */
    public void resetAndUnblock() {
        setValidatedFlag(false);
        Util.arrayFillNonAtomic(tries, slot, (short) 1, limit);
    }

    /** Gives so many tries, in the open transaction. */
    final void giveTries(byte count) {
        if (tries[slot] != count) {
            byte other = (byte) ((slot + 1) % SLOTS);
            Util.arrayFillNonAtomic(tries, other, (short) 1, count);
            slot = other;
        }
    }

    final byte limit() {
        return limit;
    }

    /** Changes how many wrong values there may be; never gives a try. */
    final void changeLimit(byte changed) {
        boolean isOpen = JCSystem.getTransactionDepth() != 0;
        if (!isOpen) {
            JCSystem.beginTransaction();
        }
        limit = changed;
        if (tries[slot] > changed) {
            giveTries(changed);
        }
        if (!isOpen) {
            JCSystem.commitTransaction();
        }
    }

    /** Throws what a wrong range of an array throws. */
    private static void checkRange(byte[] array, short offset, byte length) {
        Util.arrayCompare(array, offset, array, offset, length);
    }
}
