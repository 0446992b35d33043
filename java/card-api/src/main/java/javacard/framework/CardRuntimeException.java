package javacard.framework;

/** An exception with a reason, which no method has to declare. */
public class CardRuntimeException extends RuntimeException {
    /**
     * Creates one for the program itself to keep.
     *
     * @param reason the reason it carries
     */
    public CardRuntimeException(short reason) {
        setReason(reason);
    }

    /**
     * Returns the reason.
     *
     * @return what {@link #setReason} was last given
     */
    public native short getReason();

    /**
     * Sets the reason; the runtime keeps it in RAM, so a transaction does not take it back.
     *
     * @param reason the reason it carries from now on
     */
    public native void setReason(short reason);

    /**
     * Throws the runtime's own instance.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason);
}
