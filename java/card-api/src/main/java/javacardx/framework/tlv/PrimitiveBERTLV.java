package javacardx.framework.tlv;

import javacard.framework.Util;

/** Tag and length of a value of bytes. Its room does not grow. */
public class PrimitiveBERTLV extends BERTLV {
    private final PrimitiveBERTag tag = new PrimitiveBERTag();
    private final byte[] value;
    private short length;

    /**
     * Creates one without tag and value: three objects.
     *
     * @param numValueBytes bytes of the value at most
     * @throws TLVException {@link TLVException#INVALID_PARAM} for less than 0
     */
    public PrimitiveBERTLV(short numValueBytes) {
        if (numValueBytes < 0) {
            TLVException.throwIt(TLVException.INVALID_PARAM);
        }
        value = new byte[numValueBytes];
    }

    final BERTag ownTag() {
        return tag;
    }

    final short valueBytes() {
        return length;
    }

    final void writeValue(byte[] out, short offset) {
        Util.arrayCopy(value, (short) 0, out, offset, length);
    }

    public short init(byte[] bArray, short bOff, short bLen) throws TLVException {
        short end = Ber.checkOne(bArray, bOff, bLen);
        int found = Ber.tag(bArray, bOff, end);
        if (Ber.isConstructed(found)) {
            TLVException.throwIt(TLVException.MALFORMED_TLV);
        }
        short start = Ber.valueOffset(bArray, bOff, end);
        set(found, bArray, start, (short) (end - start));
        return size();
    }

    /**
     * Sets tag and value.
     *
     * @param tag the tag, which is copied
     * @param vArray where the value is
     * @param vOff where it starts
     * @param vLen its bytes
     * @return the bytes of all of it
     * @throws TLVException {@link TLVException#EMPTY_TAG}, {@link TLVException#INSUFFICIENT_STORAGE}
     */
    public short init(PrimitiveBERTag tag, byte[] vArray, short vOff, short vLen) throws TLVException {
        set(tag.tag(), vArray, vOff, vLen);
        return size();
    }

    final void set(int newTag, byte[] from, short offset, short bytes) {
        Util.arrayCompare(from, offset, from, offset, bytes);
        require(bytes);
        boolean isOwn = Ber.begin(this);
        tag.set(newTag);
        Util.arrayCopy(from, offset, value, (short) 0, bytes);
        length = bytes;
        Ber.commit(isOwn);
    }

    private void require(int bytes) {
        if (bytes > value.length) {
            TLVException.throwIt(TLVException.INSUFFICIENT_STORAGE);
        }
    }

    /**
     * Writes bytes behind the value.
     *
     * @param vArray where they are
     * @param vOff where they start
     * @param vLen how many they are
     * @return the bytes of all of it
     * @throws TLVException {@link TLVException#EMPTY_TLV}, {@link TLVException#INSUFFICIENT_STORAGE}
     */
    public short appendValue(byte[] vArray, short vOff, short vLen) throws TLVException {
        tag();
        Util.arrayCompare(vArray, vOff, vArray, vOff, vLen);
        require(length + vLen);
        boolean isOwn = Ber.begin(this);
        Util.arrayCopy(vArray, vOff, value, length, vLen);
        length += vLen;
        Ber.commit(isOwn);
        return size();
    }

    /**
     * Sets another value.
     *
     * @param vArray where it is
     * @param vOff where it starts
     * @param vLen its bytes
     * @return the bytes of all of it
     * @throws TLVException {@link TLVException#EMPTY_TLV}, {@link TLVException#INSUFFICIENT_STORAGE}
     */
    public short replaceValue(byte[] vArray, short vOff, short vLen) throws TLVException {
        set(tag(), vArray, vOff, vLen);
        return size();
    }

    /**
     * Copies the value.
     *
     * @param tlvValue where to
     * @param tOff where it starts there
     * @return its bytes
     * @throws TLVException {@link TLVException#EMPTY_TLV}
     */
    public short getValue(byte[] tlvValue, short tOff) throws TLVException {
        tag();
        Util.arrayCopy(value, (short) 0, tlvValue, tOff, length);
        return length;
    }

    /**
     * Returns where the value is.
     *
     * @param berTLVArray where tag, length and value are
     * @param bTLVOff where they start
     * @return where the value starts
     * @throws TLVException {@link TLVException#MALFORMED_TLV} for what is none; others for the tag
     */
    public static short getValueOffset(byte[] berTLVArray, short bTLVOff) throws TLVException {
        requirePrimitive(berTLVArray, bTLVOff);
        return Ber.valueOffset(berTLVArray, bTLVOff, berTLVArray.length);
    }

    /**
     * Writes a value with its tag and length. The value may be in the same range.
     *
     * @param berTagArray where the tag is
     * @param berTagOff where it starts
     * @param valueArray where the value is
     * @param vOff where it starts
     * @param vLen its bytes
     * @param outBuf where all of it comes
     * @param bOff where it starts there
     * @return its bytes
     * @throws TLVException {@link TLVException#MALFORMED_TAG}, also for one of the other kind;
     *     {@link TLVException#TLV_SIZE_GREATER_THAN_32767}
     */
    public static short toBytes(
            byte[] berTagArray,
            short berTagOff,
            byte[] valueArray,
            short vOff,
            short vLen,
            byte[] outBuf,
            short bOff) {
        int found = Ber.tag(berTagArray, berTagOff, berTagArray.length);
        if (Ber.isConstructed(found)) {
            TLVException.throwIt(TLVException.MALFORMED_TAG);
        }
        Util.arrayCompare(valueArray, vOff, valueArray, vOff, vLen);
        return Ber.write(found, valueArray, vOff, vLen, outBuf, bOff);
    }

    /**
     * Writes bytes behind a value, and its new length; what is behind the value is overwritten.
     *
     * @param berTLVArray where tag, length and value are
     * @param bTLVOff where they start
     * @param vArray where the bytes are
     * @param vOff where they start
     * @param vLen how many they are
     * @return the bytes of all of it
     * @throws TLVException {@link TLVException#MALFORMED_TLV} for what is none;
     *     {@link TLVException#TLV_SIZE_GREATER_THAN_32767}; others for the tag
     */
    public static short appendValue(byte[] berTLVArray, short bTLVOff, byte[] vArray, short vOff, short vLen)
            throws TLVException {
        requirePrimitive(berTLVArray, bTLVOff);
        return Ber.append(berTLVArray, bTLVOff, vArray, vOff, vLen);
    }

    private static void requirePrimitive(byte[] array, short offset) {
        int end = array.length;
        Ber.end(array, offset, end);
        if (Ber.isConstructed(Ber.tag(array, offset, end))) {
            TLVException.throwIt(TLVException.MALFORMED_TLV);
        }
    }
}
