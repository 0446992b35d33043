package javacardx.framework.tlv;

/** The tag of a value of bytes. */
public final class PrimitiveBERTag extends BERTag {
    /** Creates one that is not set. */
    public PrimitiveBERTag() {
    }

    /**
     * Sets the tag, in the shorter form where its number has one.
     *
     * @param tagClass {@link #BER_TAG_CLASS_MASK_UNIVERSAL} to {@link #BER_TAG_CLASS_MASK_PRIVATE}
     * @param tagNumber 0 to 32,767
     * @throws TLVException {@link TLVException#INVALID_PARAM}
     */
    public void init(byte tagClass, short tagNumber) throws TLVException {
        set(Ber.tag(tagClass, false, tagNumber));
    }

    public void init(byte[] bArray, short bOff) throws TLVException {
        read(bArray, bOff, false);
    }
}
