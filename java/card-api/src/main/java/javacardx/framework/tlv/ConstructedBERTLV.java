package javacardx.framework.tlv;

import javacard.framework.Util;

/**
 * Tag and length of a value that consists of others. It refers to those that are appended, whose later changes it has;
 * its room does not grow. Sizes are found by asking all of them, in a call for each that is around another.
 */
public final class ConstructedBERTLV extends BERTLV {
    private final ConstructedBERTag tag = new ConstructedBERTag();
    private final BERTLV[] parts;
    private short count;

    /**
     * Creates one without tag and value: three objects.
     *
     * @param numTLVs how many others it may have
     * @throws TLVException {@link TLVException#INVALID_PARAM} for less than 0
     */
    public ConstructedBERTLV(short numTLVs) {
        if (numTLVs < 0) {
            TLVException.throwIt(TLVException.INVALID_PARAM);
        }
        parts = new BERTLV[numTLVs];
    }

    BERTag ownTag() {
        return tag;
    }

    short valueBytes() {
        int bytes = 0;
        for (short at = 0; at < count; at++) {
            bytes += parts[at].size();
            if (bytes > 32767) {
                TLVException.throwIt(TLVException.TLV_LENGTH_GREATER_THAN_32767);
            }
        }
        return (short) bytes;
    }

    void writeValue(byte[] out, short offset) {
        for (short at = 0; at < count; at++) {
            offset += parts[at].toBytes(out, offset);
        }
    }

    public short init(byte[] bArray, short bOff, short bLen) throws TLVException {
        short end = Ber.checkOne(bArray, bOff, bLen);
        int found = Ber.tag(bArray, bOff, end);
        if (!Ber.isConstructed(found)) {
            TLVException.throwIt(TLVException.MALFORMED_TLV);
        }
        set(found, bArray, Ber.valueOffset(bArray, bOff, end), end);
        return size();
    }

    /**
     * Sets the tag, and one other as the value.
     *
     * @param tag the tag, which is copied
     * @param aTLV the other
     * @return the bytes of all of it
     * @throws TLVException {@link TLVException#EMPTY_TAG}; {@link TLVException#EMPTY_TLV} for the other;
     *     {@link TLVException#INSUFFICIENT_STORAGE}
     */
    public short init(ConstructedBERTag tag, BERTLV aTLV) throws TLVException {
        int given = tag.tag();
        aTLV.size();
        require(1);
        boolean isOwn = Ber.begin(this);
        this.tag.set(given);
        parts[0] = aTLV;
        cut((short) 1);
        Ber.commit(isOwn);
        return size();
    }

    /**
     * Sets the tag, and the value from the bytes of others, one after the other.
     *
     * @param tag the tag, which is copied
     * @param vArray where they are
     * @param vOff where they start
     * @param vLen all of their bytes
     * @return the bytes of all of it
     * @throws TLVException {@link TLVException#EMPTY_TAG}; {@link TLVException#MALFORMED_TLV} and others for the bytes;
     *     {@link TLVException#INSUFFICIENT_STORAGE}
     */
    public short init(ConstructedBERTag tag, byte[] vArray, short vOff, short vLen) throws TLVException {
        int given = tag.tag();
        Util.arrayCompare(vArray, vOff, vArray, vOff, vLen);
        short end = (short) (vOff + vLen);
        Ber.check(vArray, vOff, end, (byte) 1);
        set(given, vArray, vOff, end);
        return size();
    }

    /** Sets the tag, and the value from bytes that were looked at. */
    void set(int newTag, byte[] array, short offset, short end) {
        short found = count(array, offset, end);
        require(found);
        boolean isOwn = Ber.begin(this);
        tag.set(newTag);
        for (short at = 0; at < found; at++) {
            parts[at] = read(array, offset, end);
            offset = Ber.end(array, offset, end);
        }
        cut(found);
        Ber.commit(isOwn);
    }

    /** Has so many parts from now on. */
    private void cut(short left) {
        for (short at = left; at < count; at++) {
            parts[at] = null;
        }
        count = left;
    }

    private void require(int wanted) {
        if (wanted > parts.length) {
            TLVException.throwIt(TLVException.INSUFFICIENT_STORAGE);
        }
    }

    /**
     * Appends another one.
     *
     * @param aTLV the other
     * @return the bytes of all of it
     * @throws TLVException {@link TLVException#EMPTY_TLV} for either; {@link TLVException#INSUFFICIENT_STORAGE}
     */
    public short append(BERTLV aTLV) throws TLVException {
        tag();
        aTLV.size();
        require(count + 1);
        boolean isOwn = Ber.begin(this);
        parts[count] = aTLV;
        count++;
        Ber.commit(isOwn);
        return size();
    }

    /**
     * Takes another one out.
     *
     * @param aTLV the other
     * @param occurrenceNum which time that it is there, from 1 on
     * @return the bytes of all that is left
     * @throws TLVException {@link TLVException#INVALID_PARAM} where it is not there
     */
    public short delete(BERTLV aTLV, short occurrenceNum) throws TLVException {
        short place = placeOf(aTLV, occurrenceNum);
        if (place < 0) {
            TLVException.throwIt(TLVException.INVALID_PARAM);
        }
        boolean isOwn = Ber.begin(this);
        for (short at = place; at < (short) (count - 1); at++) {
            parts[at] = parts[at + 1];
        }
        cut((short) (count - 1));
        Ber.commit(isOwn);
        return size();
    }

    /** Where an object is for the so-and-so-many time; -1 where it is not. */
    private short placeOf(BERTLV other, short occurrence) {
        if (occurrence < 1) {
            TLVException.throwIt(TLVException.INVALID_PARAM);
        }
        for (short at = 0; at < count; at++) {
            if (parts[at] == other) {
                occurrence--;
                if (occurrence == 0) {
                    return at;
                }
            }
        }
        return -1;
    }

    /**
     * Finds the first one with a tag.
     *
     * @param bTag the tag, or null for any
     * @return the object, or null
     */
    public BERTLV find(BERTag bTag) {
        return findFrom((short) 0, bTag);
    }

    /**
     * Finds the next one with a tag.
     *
     * @param bTag the tag, or null for any
     * @param aTLV after which object
     * @param occurrenceNum which time that this is there, from 1 on
     * @return the object, or null, also where the other is not there
     * @throws TLVException {@link TLVException#INVALID_PARAM} for less than the first time
     */
    public BERTLV findNext(BERTag bTag, BERTLV aTLV, short occurrenceNum) {
        short place = placeOf(aTLV, occurrenceNum);
        return place < 0 ? null : findFrom((short) (place + 1), bTag);
    }

    private BERTLV findFrom(short place, BERTag wanted) {
        for (short at = place; at < count; at++) {
            if (wanted == null || wanted.equals(parts[at].ownTag())) {
                return parts[at];
            }
        }
        return null;
    }

    /**
     * Writes one behind the last of another's value, and its new length; what is behind that is overwritten.
     *
     * @param berTLVInArray where the one is
     * @param bTLVInOff where it starts
     * @param berTLVOutArray where the other is
     * @param bTLVOutOff where it starts
     * @return the bytes of all of the other
     * @throws TLVException {@link TLVException#MALFORMED_TLV} for what is none, or not constructed;
     *     {@link TLVException#TLV_SIZE_GREATER_THAN_32767}; others for tags
     */
    public static short append(byte[] berTLVInArray, short bTLVInOff, byte[] berTLVOutArray, short bTLVOutOff)
            throws TLVException {
        requireConstructed(berTLVOutArray, bTLVOutOff);
        short size = (short) (Ber.end(berTLVInArray, bTLVInOff, berTLVInArray.length) - bTLVInOff);
        return Ber.append(berTLVOutArray, bTLVOutOff, berTLVInArray, bTLVInOff, size);
    }

    /**
     * Finds the first one with a tag in another's value.
     *
     * @param berTLVArray where the other is
     * @param bTLVOff where it starts
     * @param berTagArray where the tag is, or null for any
     * @param bTagOff where it starts
     * @return where the one starts, or -1
     * @throws TLVException {@link TLVException#MALFORMED_TLV} for what is none, or not constructed; others for tags
     */
    public static short find(byte[] berTLVArray, short bTLVOff, byte[] berTagArray, short bTagOff)
            throws TLVException {
        short end = requireConstructed(berTLVArray, bTLVOff);
        short first = Ber.valueOffset(berTLVArray, bTLVOff, end);
        return findFrom(berTLVArray, first, end, berTagArray, bTagOff);
    }

    /**
     * Finds the next one with a tag in another's value.
     *
     * @param berTLVArray where the other is
     * @param bTLVOff where it starts
     * @param startOffset where the one starts after which the next is looked for
     * @param berTagArray where the tag is, or null for any
     * @param bTagOff where it starts
     * @return where the next starts, or -1
     * @throws TLVException {@link TLVException#MALFORMED_TLV} for what is none, or not constructed;
     *     {@link TLVException#INVALID_PARAM} where none of the value starts there; others for tags
     */
    public static short findNext(
            byte[] berTLVArray, short bTLVOff, short startOffset, byte[] berTagArray, short bTagOff)
            throws TLVException {
        short end = requireConstructed(berTLVArray, bTLVOff);
        short place = Ber.valueOffset(berTLVArray, bTLVOff, end);
        while (place < end && place != startOffset) {
            place = Ber.end(berTLVArray, place, end);
        }
        if (place >= end) {
            TLVException.throwIt(TLVException.INVALID_PARAM);
        }
        return findFrom(berTLVArray, Ber.end(berTLVArray, place, end), end, berTagArray, bTagOff);
    }

    private static short findFrom(byte[] array, short place, short end, byte[] tagArray, short tagOffset) {
        int wanted = tagArray == null ? 0 : Ber.tag(tagArray, tagOffset, tagArray.length);
        while (place < end) {
            if (tagArray == null || Ber.tag(array, place, end) == wanted) {
                return place;
            }
            place = Ber.end(array, place, end);
        }
        return -1;
    }

    /** Where what is at a place ends, which is constructed. */
    private static short requireConstructed(byte[] array, short offset) {
        int length = array.length;
        short end = Ber.end(array, offset, length);
        if (!Ber.isConstructed(Ber.tag(array, offset, length))) {
            TLVException.throwIt(TLVException.MALFORMED_TLV);
        }
        return end;
    }
}
