package javacard.framework;

/** A PIN that the applet which created it may change. It survives tearing: no cut of the power gains a try. */
public class OwnerPIN implements PIN {
    /**
     * Creates a PIN without a value.
     *
     * @param tryLimit wrong values at most, at least 1
     * @param maxPINSize bytes at most, at least 1
     * @throws PINException {@link PINException#ILLEGAL_VALUE} for less than 1
     */
    public OwnerPIN(byte tryLimit, byte maxPINSize) throws PINException {
        initialize(tryLimit, maxPINSize);
    }

    private native void initialize(byte tryLimit, byte maxPINSize);

    /**
     * Returns the flag in RAM that says whether the right value was shown.
     *
     * @return the flag
     */
    protected native boolean getValidatedFlag();

    /**
     * Sets that flag.
     *
     * @param value the flag from now on
     */
    protected native void setValidatedFlag(boolean value);

    public native byte getTriesRemaining();

    public native boolean check(byte[] pin, short offset, byte length)
            throws ArrayIndexOutOfBoundsException, NullPointerException;

    public native boolean isValidated();

    public native void reset();

    /**
     * Sets a new value and restores the tries.
     *
     * @param pin the value
     * @param offset where it starts
     * @param length its bytes
     * @throws PINException {@link PINException#ILLEGAL_VALUE} for more bytes than the PIN was created for
     */
    public native void update(byte[] pin, short offset, byte length) throws PINException;

    /** Forgets that the right value was shown, and restores the tries. */
    public native void resetAndUnblock();
}
