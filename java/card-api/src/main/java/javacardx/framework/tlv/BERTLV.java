package javacardx.framework.tlv;

import javacard.framework.Util;

/**
 * Tag, length and value of ISO 8825-1, with definite lengths. What is read may be nested in up to four others. A change
 * is made whole or not at all; in an open transaction, as it ends.
 */
public abstract class BERTLV {
    /** For the two kinds. */
    protected BERTLV() {
    }

    /**
     * Sets tag and value from their bytes.
     *
     * @param bArray where they are
     * @param bOff where they start
     * @param bLen all of their bytes
     * @return the bytes that {@link #toBytes} writes: lengths are written as short as may be
     * @throws TLVException {@link TLVException#MALFORMED_TLV} for what is none, or of the other kind;
     *     {@link TLVException#INSUFFICIENT_STORAGE} for more than the object was made for; others for its tag
     */
    public abstract short init(byte[] bArray, short bOff, short bLen) throws TLVException;

    /** The tag, which may be empty. */
    abstract BERTag ownTag();

    /** The bytes of the value. */
    abstract short valueBytes();

    /** Writes the value. */
    abstract void writeValue(byte[] out, short offset);

    /**
     * Makes one from its bytes, with as much room as it takes: three objects for bytes, and three for what consists of
     * others, beside these.
     *
     * @param bArray where they are
     * @param bOff where they start
     * @param bLen all of their bytes
     * @return a {@link PrimitiveBERTLV} or a {@link ConstructedBERTLV}
     * @throws TLVException as {@link #init}
     */
    public static BERTLV getInstance(byte[] bArray, short bOff, short bLen) throws TLVException {
        short end = Ber.checkOne(bArray, bOff, bLen);
        return read(bArray, bOff, end);
    }

    /** Makes one of bytes that were looked at. */
    static BERTLV read(byte[] array, short offset, short end) {
        int tag = Ber.tag(array, offset, end);
        short value = Ber.valueOffset(array, offset, end);
        short next = Ber.end(array, offset, end);
        if (Ber.isConstructed(tag)) {
            ConstructedBERTLV made = new ConstructedBERTLV(count(array, value, next));
            made.set(tag, array, value, next);
            return made;
        }
        PrimitiveBERTLV made = new PrimitiveBERTLV((short) (next - value));
        made.set(tag, array, value, (short) (next - value));
        return made;
    }

    /** How many are in a range that was looked at, one after the other. */
    static short count(byte[] array, short offset, short end) {
        short count = 0;
        while (offset < end) {
            offset = Ber.end(array, offset, end);
            count++;
        }
        return count;
    }

    /** The tag, once there is one. */
    final int tag() {
        BERTag own = ownTag();
        try {
            return own.tag();
        } catch (TLVException empty) {
            TLVException.throwIt(TLVException.EMPTY_TLV);
            return 0;
        }
    }

    /**
     * Writes all of it.
     *
     * @param outBuf where to
     * @param bOff where it starts there
     * @return its bytes
     * @throws TLVException {@link TLVException#EMPTY_TLV}, {@link TLVException#TLV_SIZE_GREATER_THAN_32767}
     */
    public short toBytes(byte[] outBuf, short bOff) {
        short size = size();
        Util.arrayCompare(outBuf, bOff, outBuf, bOff, size);
        short length = valueBytes();
        writeValue(outBuf, Ber.writeLength(length, outBuf, Ber.writeTag(tag(), outBuf, bOff)));
        return size;
    }

    /**
     * Returns the tag.
     *
     * @return the object that this one has
     * @throws TLVException {@link TLVException#EMPTY_TLV}
     */
    public BERTag getTag() throws TLVException {
        tag();
        return ownTag();
    }

    /**
     * Returns the length of the value.
     *
     * @return bytes
     * @throws TLVException {@link TLVException#EMPTY_TLV}, {@link TLVException#TLV_LENGTH_GREATER_THAN_32767}
     */
    public short getLength() throws TLVException {
        tag();
        return valueBytes();
    }

    /**
     * Returns the length of all of it.
     *
     * @return the bytes that {@link #toBytes} writes
     * @throws TLVException {@link TLVException#EMPTY_TLV}, {@link TLVException#TLV_SIZE_GREATER_THAN_32767}
     */
    public short size() {
        return Ber.size(tag(), valueBytes());
    }

    /**
     * Says whether bytes are one.
     *
     * @param berTlvArray where they are
     * @param bOff where they start
     * @param bLen how many they are
     * @return whether they are one from the first to the last, and well formed in what it consists of
     */
    public static boolean verifyFormat(byte[] berTlvArray, short bOff, short bLen) {
        try {
            Ber.checkOne(berTlvArray, bOff, bLen);
            return true;
        } catch (TLVException malformed) {
            return false;
        }
    }

    /**
     * Copies the tag.
     *
     * @param berTLVArray where tag, length and value are
     * @param bTLVOff where they start
     * @param berTagArray where the tag comes
     * @param bTagOff where it starts there
     * @return its bytes
     * @throws TLVException as {@link BERTag#init}
     */
    public static short getTag(byte[] berTLVArray, short bTLVOff, byte[] berTagArray, short bTagOff)
            throws TLVException {
        int found = Ber.tag(berTLVArray, bTLVOff, berTLVArray.length);
        return (short) (Ber.writeTag(found, berTagArray, bTagOff) - bTagOff);
    }

    /**
     * Returns the length of the value.
     *
     * @param berTLVArray where tag, length and value are
     * @param bOff where they start
     * @return bytes
     * @throws TLVException {@link TLVException#MALFORMED_TLV}, {@link TLVException#TLV_LENGTH_GREATER_THAN_32767};
     *     others for the tag
     */
    public static short getLength(byte[] berTLVArray, short bOff) throws TLVException {
        return Ber.valueLength(berTLVArray, bOff, berTLVArray.length);
    }
}
