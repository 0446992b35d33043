package sampling;

import javacard.framework.Util;

/** Bits one after the other in a frame's payload. */
final class Bits {
    private byte[] buffer;
    private short start;
    private short count;
    private short room;

    void begin(byte[] array, short offset, short bytes) {
        buffer = array;
        start = offset;
        count = 0;
        room = (short) (8 * bytes);
        Util.arrayFillNonAtomic(array, offset, bytes, (byte) 0);
    }

    short bytes() {
        return (short) ((count + 7) / 8);
    }

    boolean fits(short bits) {
        return (short) (count + bits) <= room;
    }

    /** The lowest bits of a number, the most significant first. */
    void put(short value, byte bits) {
        for (byte at = (byte) (bits - 1); at >= 0; at--) {
            if ((value >> at & 1) != 0) {
                buffer[start + (count >> 3)] |= (byte) (0x80 >> (count & 7));
            }
            count++;
        }
    }

    /** So many ones, and a zero. */
    void unary(short value) {
        for (short at = 0; at < value; at++) {
            buffer[start + (count >> 3)] |= (byte) (0x80 >> (count & 7));
            count++;
        }
        count++;
    }
}
