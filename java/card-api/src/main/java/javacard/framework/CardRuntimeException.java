package javacard.framework;

/** An exception with a reason, which no method has to declare. */
public class CardRuntimeException extends RuntimeException {
    private short reason;

    /**
     * Creates one for the program itself to keep.
     *
     * @param reason the reason it carries
     */
    public CardRuntimeException(short reason) {
        this.reason = reason;
    }

    /**
     * Returns the reason.
     *
     * @return what {@link #setReason} was last given
     */
    public short getReason() {
        return reason;
    }

    /**
     * Sets the reason; that of the runtime's own instances is in RAM, so a transaction does not take it back.
     *
     * @param reason the reason it carries from now on
     */
    public void setReason(short reason) {
        this.reason = reason;
    }

    /**
     * Throws the runtime's own instance.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason);
}
