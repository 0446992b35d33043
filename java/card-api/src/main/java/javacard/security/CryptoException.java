package javacard.security;

import javacard.framework.CardRuntimeException;

/** What goes wrong with keys and algorithms. */
public class CryptoException extends CardRuntimeException {
    /** A value has a wrong length, or is none of the algorithm's. */
    public static final short ILLEGAL_VALUE = 1;

    /** The key has no value, or lacks a parameter. */
    public static final short UNINITIALIZED_KEY = 2;

    /** The card does not have the algorithm, or the key's type or length. */
    public static final short NO_SUCH_ALGORITHM = 3;

    /** The object was not initialized for the call. */
    public static final short INVALID_INIT = 4;

    /** The data are no whole blocks, or wrongly padded. */
    public static final short ILLEGAL_USE = 5;

    /**
     * Creates one for the program itself to keep; {@link #throwIt} needs none.
     *
     * @param reason the reason it carries
     */
    public CryptoException(short reason) {
        super(reason);
    }

    /**
     * Throws the runtime's own instance, which no field can keep and which programs nothing on flash.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason);
}
