package javacardx.framework.util;

import javacard.framework.CardRuntimeException;

/** What goes wrong with arrays of several types. */
public class UtilException extends CardRuntimeException {
    /** A length or a value is wrong. */
    public static final short ILLEGAL_VALUE = 1;

    /** An object is no array of a type that fits. */
    public static final short TYPE_MISMATCHED = 2;

    /**
     * Creates one for the program itself to keep; {@link #throwIt} needs none.
     *
     * @param reason the reason it carries
     */
    public UtilException(short reason) {
        super(reason);
    }

    /**
     * Throws the runtime's own instance, which no field can keep and which programs nothing on flash.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason);
}
