package javacardx.framework.tlv;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/**
 * Tag and length as ISO 8825-1 encodes them, with definite lengths. A tag has up to four bytes, which are one int here,
 * the last byte in its lowest eight bits. Tags below 31 may have the longer form, as cards use them.
 */
final class Ber {
    /** Constructed objects that may be around one: each takes frames of three calls while it is made. */
    static final byte DEPTH_MAX = 4;

    private static final byte CONSTRUCTED = 0x20;
    private static final byte LONG_NUMBER = 0x1F;
    private static final short SHORT_MAX = 32767;

    private Ber() {
    }

    /** The byte at a place before an end; what is beyond the array's end is out of bounds. */
    private static byte at(byte[] array, int place, int end, short reason) {
        byte found = array[place];
        if (place >= end) {
            TLVException.throwIt(reason);
        }
        return found;
    }

    /** Bytes of the tag at a place, which is looked at. */
    static byte tagSize(byte[] array, int place, int end) {
        byte first = at(array, place, end, TLVException.MALFORMED_TAG);
        if ((first & LONG_NUMBER) != LONG_NUMBER) {
            return 1;
        }
        byte size = 1;
        int number = 0;
        byte next;
        do {
            next = at(array, place + size, end, TLVException.MALFORMED_TAG);
            if (size == 1 && next == (byte) 0x80) {
                TLVException.throwIt(TLVException.MALFORMED_TAG);
            }
            number = number << 7 | next & 0x7F;
            if (number > SHORT_MAX) {
                TLVException.throwIt(TLVException.TAG_NUMBER_GREATER_THAN_32767);
            }
            size++;
        } while (next < 0);
        return size;
    }

    /** The tag at a place. */
    static int tag(byte[] array, int place, int end) {
        byte size = tagSize(array, place, end);
        int tag = 0;
        for (byte at = 0; at < size; at++) {
            tag = tag << 8 | array[place + at] & 0xFF;
        }
        return tag;
    }

    /** The tag of a class, a kind and a number. */
    static int tag(short tagClass, boolean isConstructed, short number) {
        if (tagClass < 0 || tagClass > BERTag.BER_TAG_CLASS_MASK_PRIVATE || number < 0) {
            TLVException.throwIt(TLVException.INVALID_PARAM);
        }
        int first = tagClass << 6 | (isConstructed ? CONSTRUCTED : 0);
        if (number < LONG_NUMBER) {
            return first | number;
        }
        int tag = first | LONG_NUMBER;
        for (byte shift = 14; shift >= 0; shift -= 7) {
            if (number >> shift != 0) {
                tag = tag << 8 | number >> shift & 0x7F | (shift == 0 ? 0 : 0x80);
            }
        }
        return tag;
    }

    static byte sizeOf(int tag) {
        byte size = 1;
        while (size < 4 && tag >>> 8 * size != 0) {
            size++;
        }
        return size;
    }

    private static int firstOf(int tag) {
        return tag >>> 8 * (sizeOf(tag) - 1);
    }

    static boolean isConstructed(int tag) {
        return (firstOf(tag) & CONSTRUCTED) != 0;
    }

    static byte classOf(int tag) {
        return (byte) (firstOf(tag) >> 6 & 3);
    }

    static short numberOf(int tag) {
        byte size = sizeOf(tag);
        if (size == 1) {
            return (short) (tag & LONG_NUMBER);
        }
        int number = 0;
        for (int at = size - 2; at >= 0; at--) {
            number = number << 7 | tag >> 8 * at & 0x7F;
        }
        return (short) number;
    }

    static short writeTag(int tag, byte[] out, short offset) {
        byte size = sizeOf(tag);
        Util.arrayCompare(out, offset, out, offset, size);
        for (byte at = 0; at < size; at++) {
            out[offset + at] = (byte) (tag >> 8 * (size - 1 - at));
        }
        return (short) (offset + size);
    }

    /** Bytes of the length at a place: it may have more than it takes. */
    static byte lengthSize(byte[] array, int place, int end) {
        byte first = at(array, place, end, TLVException.MALFORMED_TLV);
        if (first >= 0) {
            return 1;
        }
        byte more = (byte) (first & 0x7F);
        // None is an indefinite length, which ends with a mark.
        if (more == 0 || more > 4) {
            TLVException.throwIt(TLVException.MALFORMED_TLV);
        }
        return (byte) (1 + more);
    }

    /** The length at a place. */
    static short length(byte[] array, int place, int end) {
        byte size = lengthSize(array, place, end);
        if (size == 1) {
            return array[place];
        }
        int length = 0;
        for (byte at = 1; at < size; at++) {
            int next = at(array, place + at, end, TLVException.MALFORMED_TLV) & 0xFF;
            if (length > SHORT_MAX >> 8 || (length << 8 | next) > SHORT_MAX) {
                TLVException.throwIt(TLVException.TLV_LENGTH_GREATER_THAN_32767);
            }
            length = length << 8 | next;
        }
        return (short) length;
    }

    /** Bytes that a length takes. */
    static byte sizeOfLength(short length) {
        return (byte) (length < 0x80 ? 1 : length < 0x100 ? 2 : 3);
    }

    static short writeLength(short length, byte[] out, short offset) {
        byte size = sizeOfLength(length);
        Util.arrayCompare(out, offset, out, offset, size);
        if (size == 1) {
            out[offset] = (byte) length;
            return (short) (offset + 1);
        }
        out[offset] = (byte) (0x80 | size - 1);
        for (byte at = 1; at < size; at++) {
            out[offset + at] = (byte) (length >> 8 * (size - 1 - at));
        }
        return (short) (offset + size);
    }

    /** Where the value starts of what is at a place. */
    static short valueOffset(byte[] array, int place, int end) {
        int length = place + tagSize(array, place, end);
        return whole(length + lengthSize(array, length, end));
    }

    /** The length of the value of what is at a place. */
    static short valueLength(byte[] array, int place, int end) {
        return length(array, place + tagSize(array, place, end), end);
    }

    /** Where what is at a place ends; not beyond the end, or the array's. */
    static short end(byte[] array, int place, int end) {
        int found = valueOffset(array, place, end) + valueLength(array, place, end);
        if (found > end) {
            TLVException.throwIt(TLVException.MALFORMED_TLV);
        }
        return whole(found);
    }

    /** A size or a place that is a short. */
    static short whole(int size) {
        if (size > SHORT_MAX) {
            TLVException.throwIt(TLVException.TLV_SIZE_GREATER_THAN_32767);
        }
        return (short) size;
    }

    /** All of a value of some bytes, with its tag and length. */
    static short size(int tag, int valueBytes) {
        if (valueBytes > SHORT_MAX) {
            TLVException.throwIt(TLVException.TLV_LENGTH_GREATER_THAN_32767);
        }
        return whole(sizeOf(tag) + sizeOfLength((short) valueBytes) + valueBytes);
    }

    /** Refuses a range that is not one after the other, each well formed. */
    static void check(byte[] array, short first, short end, byte depth) {
        short place = first;
        while (place < end) {
            short next = end(array, place, end);
            if (isConstructed(tag(array, place, end))) {
                if (depth == DEPTH_MAX) {
                    TLVException.throwIt(TLVException.MALFORMED_TLV);
                }
                check(array, valueOffset(array, place, end), next, (byte) (depth + 1));
            }
            place = next;
        }
    }

    /** Refuses a range that is not one, well formed, from its start to its end; returns the end. */
    static short checkOne(byte[] array, short offset, short length) {
        Util.arrayCompare(array, offset, array, offset, length);
        int end = offset + length;
        if (end(array, offset, end) != end) {
            TLVException.throwIt(TLVException.MALFORMED_TLV);
        }
        check(array, offset, (short) end, (byte) 0);
        return (short) end;
    }

    /** Writes a value with its tag and length; the value may be in the same range. Returns the bytes. */
    static short write(int tag, byte[] value, short offset, short length, byte[] out, short outOffset) {
        short size = size(tag, length);
        Util.arrayCompare(out, outOffset, out, outOffset, size);
        Util.arrayCopy(value, offset, out, (short) (outOffset + size - length), length);
        writeLength(length, out, writeTag(tag, out, outOffset));
        return size;
    }

    /** Writes a value behind that of what is at a place, and its length; returns the bytes of all. */
    static short append(byte[] array, short offset, byte[] value, short valueOffset, short valueLength) {
        Util.arrayCompare(value, valueOffset, value, valueOffset, valueLength);
        short end = (short) array.length;
        int tag = tag(array, offset, end);
        short from = valueOffset(array, offset, end);
        short length = valueLength(array, offset, end);
        short size = size(tag, length + valueLength);
        short both = (short) (length + valueLength);
        Util.arrayCompare(array, offset, array, offset, size);
        short to = (short) (offset + size - both);
        boolean isOwn = begin(array);
        // A longer length moves the value on. What is appended goes first, since it may be behind it.
        Util.arrayCopy(value, valueOffset, array, (short) (to + length), valueLength);
        Util.arrayCopy(array, from, array, to, length);
        writeLength(both, array, (short) (offset + sizeOf(tag)));
        commit(isOwn);
        return size;
    }

    /** Begins a transaction, if none is open and the object is on flash. */
    static boolean begin(Object changed) {
        boolean isOwn = JCSystem.isTransient(changed) == JCSystem.NOT_A_TRANSIENT_OBJECT
                && JCSystem.getTransactionDepth() == 0;
        if (isOwn) {
            JCSystem.beginTransaction();
        }
        return isOwn;
    }

    static void commit(boolean isOwn) {
        if (isOwn) {
            JCSystem.commitTransaction();
        }
    }
}
