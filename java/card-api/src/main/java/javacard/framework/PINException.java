package javacard.framework;

/** What a PIN refuses. */
public class PINException extends CardRuntimeException {
    /** A length or a limit of tries is out of its range. */
    public static final short ILLEGAL_VALUE = 1;

    /** The PIN is in no state for the call. */
    public static final short ILLEGAL_STATE = 2;

    /**
     * Creates one for the program itself to keep; {@link #throwIt} needs none.
     *
     * @param reason the reason it carries
     */
    public PINException(short reason) {
        super(reason);
    }

    /**
     * Throws the runtime's own instance, which no field can keep and which programs nothing on flash.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason);
}
