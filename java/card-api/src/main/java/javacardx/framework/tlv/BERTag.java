package javacardx.framework.tlv;

/**
 * A tag of ISO 8825-1: class, primitive or constructed, and a number of up to 32,767; up to four bytes. A tag keeps the
 * form that it was set in: 9F02 stays that, though its number has a shorter one.
 */
public abstract class BERTag {
    /** The class: universal. */
    public static final byte BER_TAG_CLASS_MASK_UNIVERSAL = 0;

    /** The class: of an application. */
    public static final byte BER_TAG_CLASS_MASK_APPLICATION = 1;

    /** The class: by context. */
    public static final byte BER_TAG_CLASS_MASK_CONTEXT_SPECIFIC = 2;

    /** The class: private. */
    public static final byte BER_TAG_CLASS_MASK_PRIVATE = 3;

    /** The value consists of others. */
    public static final boolean BER_TAG_TYPE_CONSTRUCTED = true;

    /** The value is bytes. */
    public static final boolean BER_TAG_TYPE_PRIMITIVE = false;

    private int tag;
    private boolean isSet;

    /** For the two kinds. */
    protected BERTag() {
    }

    /**
     * Sets the tag from its bytes.
     *
     * @param bArray where they are
     * @param bOff where they start
     * @throws TLVException {@link TLVException#MALFORMED_TAG} for what is none, or one of the other kind;
     *     {@link TLVException#TAG_NUMBER_GREATER_THAN_32767}
     */
    public abstract void init(byte[] bArray, short bOff) throws TLVException;

    /**
     * Makes a tag from its bytes: one object.
     *
     * @param bArray where they are
     * @param bOff where they start
     * @return a {@link PrimitiveBERTag} or a {@link ConstructedBERTag}
     * @throws TLVException as {@link #init}
     */
    public static BERTag getInstance(byte[] bArray, short bOff) throws TLVException {
        int found = Ber.tag(bArray, bOff, bArray.length);
        BERTag made;
        if (Ber.isConstructed(found)) {
            made = new ConstructedBERTag();
        } else {
            made = new PrimitiveBERTag();
        }
        made.set(found);
        return made;
    }

    /** Sets the tag, in one transaction. */
    final void set(int changed) {
        boolean isOwn = Ber.begin(this);
        tag = changed;
        isSet = true;
        Ber.commit(isOwn);
    }

    /** The tag's bytes in an int. */
    final int tag() {
        if (!isSet) {
            TLVException.throwIt(TLVException.EMPTY_TAG);
        }
        return tag;
    }

    /** Sets the tag from bytes, of a kind. */
    final void read(byte[] array, short offset, boolean isConstructed) {
        int found = Ber.tag(array, offset, array.length);
        if (Ber.isConstructed(found) != isConstructed) {
            TLVException.throwIt(TLVException.MALFORMED_TAG);
        }
        set(found);
    }

    /**
     * Returns how long the tag is.
     *
     * @return bytes, 1 to 4
     * @throws TLVException {@link TLVException#EMPTY_TAG}
     */
    public byte size() throws TLVException {
        return Ber.sizeOf(tag());
    }

    /**
     * Writes the tag.
     *
     * @param outBuf where to
     * @param bOffset where it starts there
     * @return its bytes
     * @throws TLVException {@link TLVException#EMPTY_TAG}
     */
    public short toBytes(byte[] outBuf, short bOffset) throws TLVException {
        return (short) (Ber.writeTag(tag(), outBuf, bOffset) - bOffset);
    }

    /**
     * Returns the number.
     *
     * @return 0 to 32,767
     * @throws TLVException {@link TLVException#EMPTY_TAG}
     */
    public short tagNumber() throws TLVException {
        return Ber.numberOf(tag());
    }

    /**
     * Says which kind the tag is.
     *
     * @return {@link #BER_TAG_TYPE_CONSTRUCTED} or {@link #BER_TAG_TYPE_PRIMITIVE}
     * @throws TLVException {@link TLVException#EMPTY_TAG}
     */
    public boolean isConstructed() {
        return Ber.isConstructed(tag());
    }

    /**
     * Returns the class.
     *
     * @return {@link #BER_TAG_CLASS_MASK_UNIVERSAL} to {@link #BER_TAG_CLASS_MASK_PRIVATE}
     * @throws TLVException {@link TLVException#EMPTY_TAG}
     */
    public byte tagClass() {
        return Ber.classOf(tag());
    }

    /**
     * Compares two tags, by their bytes.
     *
     * @param otherTag the other; may be null
     * @return whether both are set and the same
     */
    public boolean equals(BERTag otherTag) {
        return otherTag != null && isSet && otherTag.isSet && tag == otherTag.tag;
    }

    /**
     * Compares with another object.
     *
     * @param otherTag the other; may be null
     * @return whether it is a tag, and {@link #equals(BERTag)}
     */
    public boolean equals(Object otherTag) {
        return otherTag instanceof BERTag && equals((BERTag) otherTag);
    }

    /**
     * Writes a tag.
     *
     * @param tagClass {@link #BER_TAG_CLASS_MASK_UNIVERSAL} to {@link #BER_TAG_CLASS_MASK_PRIVATE}
     * @param isConstructed {@link #BER_TAG_TYPE_CONSTRUCTED} or {@link #BER_TAG_TYPE_PRIMITIVE}
     * @param tagNumber 0 to 32,767
     * @param outArray where to
     * @param bOff where it starts there
     * @return its bytes
     * @throws TLVException {@link TLVException#INVALID_PARAM}
     */
    public static short toBytes(short tagClass, boolean isConstructed, short tagNumber, byte[] outArray, short bOff) {
        return (short) (Ber.writeTag(Ber.tag(tagClass, isConstructed, tagNumber), outArray, bOff) - bOff);
    }

    /**
     * Returns how long a tag is.
     *
     * @param berTagArray where it is
     * @param bOff where it starts
     * @return bytes, 1 to 4
     * @throws TLVException as {@link #init}
     */
    public static byte size(byte[] berTagArray, short bOff) throws TLVException {
        return Ber.tagSize(berTagArray, bOff, berTagArray.length);
    }

    /**
     * Returns a tag's number.
     *
     * @param berTagArray where it is
     * @param bOff where it starts
     * @return 0 to 32,767
     * @throws TLVException as {@link #init}
     */
    public static short tagNumber(byte[] berTagArray, short bOff) throws TLVException {
        return Ber.numberOf(Ber.tag(berTagArray, bOff, berTagArray.length));
    }

    /**
     * Says which kind a tag is.
     *
     * @param berTagArray where it is
     * @param bOff where it starts
     * @return {@link #BER_TAG_TYPE_CONSTRUCTED} or {@link #BER_TAG_TYPE_PRIMITIVE}
     * @throws TLVException as {@link #init}
     */
    public static boolean isConstructed(byte[] berTagArray, short bOff) {
        return Ber.isConstructed(Ber.tag(berTagArray, bOff, berTagArray.length));
    }

    /**
     * Returns a tag's class.
     *
     * @param berTagArray where it is
     * @param bOff where it starts
     * @return {@link #BER_TAG_CLASS_MASK_UNIVERSAL} to {@link #BER_TAG_CLASS_MASK_PRIVATE}
     * @throws TLVException as {@link #init}
     */
    public static byte tagClass(byte[] berTagArray, short bOff) {
        return Ber.classOf(Ber.tag(berTagArray, bOff, berTagArray.length));
    }

    /**
     * Says whether bytes are a tag.
     *
     * @param berTagArray where they are
     * @param bOff where they start
     * @return whether they begin with one
     */
    public static boolean verifyFormat(byte[] berTagArray, short bOff) {
        try {
            Ber.tagSize(berTagArray, bOff, berTagArray.length);
            return true;
        } catch (TLVException malformed) {
            return false;
        }
    }
}
