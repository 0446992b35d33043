package javacard.framework;

/** Makes PINs of several kinds. */
public class OwnerPINBuilder {
    /** An {@link OwnerPIN}. */
    public static final byte OWNER_PIN = 1;

    /** An {@link OwnerPINx}. */
    public static final byte OWNER_PIN_X = 2;

    /** An {@link OwnerPINxWithPredecrement}. */
    public static final byte OWNER_PIN_X_WITH_PREDECREMENT = 3;

    private OwnerPINBuilder() {
    }

    /**
     * Makes a PIN without a value.
     *
     * @param tryLimit wrong values at most, at least 1
     * @param maxPINSize bytes at most, at least 1
     * @param ownerPINType one of the kinds
     * @return the PIN
     * @throws PINException {@link PINException#ILLEGAL_VALUE} for others
     */
    public static PIN buildOwnerPIN(byte tryLimit, byte maxPINSize, byte ownerPINType) throws PINException {
        switch (ownerPINType) {
            case OWNER_PIN:
                return new OwnerPIN(tryLimit, maxPINSize);
            case OWNER_PIN_X:
                return new ChangeablePin(tryLimit, maxPINSize);
            case OWNER_PIN_X_WITH_PREDECREMENT:
                return new AheadPin(tryLimit, maxPINSize);
            default:
                PINException.throwIt(PINException.ILLEGAL_VALUE);
                return null;
        }
    }
}
