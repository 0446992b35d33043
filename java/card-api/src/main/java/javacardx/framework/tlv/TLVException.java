package javacardx.framework.tlv;

import javacard.framework.CardRuntimeException;

/** What is wrong with a tag or with an object of tag, length and value. */
public class TLVException extends CardRuntimeException {
    /** A parameter is none. */
    public static final short INVALID_PARAM = 1;

    /** A size is none that there is. */
    public static final short ILLEGAL_SIZE = 2;

    /** The tag was not set yet. */
    public static final short EMPTY_TAG = 3;

    /** Tag and value were not set yet. */
    public static final short EMPTY_TLV = 4;

    /** Bytes are no tag, or one of the other kind. */
    public static final short MALFORMED_TAG = 5;

    /** Bytes are no tag, length and value, or of the other kind, or are nested in more than four others. */
    public static final short MALFORMED_TLV = 6;

    /** The object was made for less. */
    public static final short INSUFFICIENT_STORAGE = 7;

    /** A tag of more than 127 bytes, which is refused for its number or its form before. */
    public static final short TAG_SIZE_GREATER_THAN_127 = 8;

    /** A tag's number is too great. */
    public static final short TAG_NUMBER_GREATER_THAN_32767 = 9;

    /** All of it is too long. */
    public static final short TLV_SIZE_GREATER_THAN_32767 = 10;

    /** The value is too long. */
    public static final short TLV_LENGTH_GREATER_THAN_32767 = 11;

    /**
     * Creates one for the program itself to keep; {@link #throwIt} needs none.
     *
     * @param reason the reason it carries
     */
    public TLVException(short reason) {
        super(reason);
    }

    /**
     * Throws the runtime's own instance, which no field can keep and which programs nothing on flash.
     *
     * @param reason the reason it carries
     */
    public static native void throwIt(short reason);
}
