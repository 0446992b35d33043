package javacard.framework;

/** What the runtime refuses. */
public class SystemException extends CardRuntimeException {
    /** A parameter is out of its range. */
    public static final short ILLEGAL_VALUE = 1;

    /** RAM for transient arrays is used up. */
    public static final short NO_TRANSIENT_SPACE = 2;

    /** A CLEAR_ON_DESELECT array is asked for, or used, by a package that is not selected. */
    public static final short ILLEGAL_TRANSIENT = 3;

    /** An applet registers under an AID that is taken, or of another RID. */
    public static final short ILLEGAL_AID = 4;

    /** Memory for an object is used up. */
    public static final short NO_RESOURCE = 5;

    /** The call is not allowed now. */
    public static final short ILLEGAL_USE = 6;

    /**
     * Creates one for the program itself to keep; {@link #throwIt} needs none.
     *
     * @param reason the reason it carries
     */
    public SystemException(short reason) {
        super(reason);
    }

    /**
     * Throws the runtime's own instance, which no field can keep and which programs nothing on flash.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason);
}
