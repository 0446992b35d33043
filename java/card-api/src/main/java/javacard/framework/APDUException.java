package javacard.framework;

/** What an APDU refuses. */
public class APDUException extends CardRuntimeException {
    /** Calls in this order are not allowed. */
    public static final short ILLEGAL_USE = 1;

    /** Bytes would lie outside the APDU buffer. */
    public static final short BUFFER_BOUNDS = 2;

    /** A length is negative or beyond what was announced. */
    public static final short BAD_LENGTH = 3;

    /** The reader cannot be reached. */
    public static final short IO_ERROR = 4;

    /** Under T=0 another command came where GET RESPONSE was expected. */
    public static final short NO_T0_GETRESPONSE = 0xAA;

    /** Under T=1 the reader aborted. */
    public static final short T1_IFD_ABORT = 0xAB;

    /** Under T=0 another command came where the same with the right length was expected. */
    public static final short NO_T0_REISSUE = 0xAC;

    /**
     * Creates one for the program itself to keep; {@link #throwIt} needs none.
     *
     * @param reason the reason it carries
     */
    public APDUException(short reason) {
        super(reason);
    }

    /**
     * Throws the runtime's own instance, which no field can keep and which programs nothing on flash.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason);
}
