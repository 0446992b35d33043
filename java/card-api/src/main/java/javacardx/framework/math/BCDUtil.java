package javacardx.framework.math;

import javacard.framework.Util;

/**
 * Numbers as binary coded decimals: two digits a byte, the most significant first. Numbers have up to 8 bytes in
 * hexadecimal form, and 20 digits; they are converted without an array of their own, so that ranges may overlap.
 */
public final class BCDUtil {
    private static final short BYTES_MAX = 8;
    private static final short DIGIT_BYTES_MAX = 10;

    /** An object of which nothing is needed: the methods are static. */
    public BCDUtil() {
    }

    /**
     * Returns how long numbers may be.
     *
     * @return bytes in hexadecimal form, 8
     */
    public static short getMaxBytesSupported() {
        return BYTES_MAX;
    }

    /**
     * Converts decimals to a number in hexadecimal form, without zeros before it.
     *
     * @param bcdArray where the decimals are
     * @param bOff where they start
     * @param bLen their bytes
     * @param hexArray where the number comes
     * @param outOff where it starts there
     * @return its bytes, at least 1
     * @throws ArithmeticException for no bytes, for what is no decimal, and for a number of more than 8 bytes
     */
    public static short convertToHex(byte[] bcdArray, short bOff, short bLen, byte[] hexArray, short outOff)
            throws ArithmeticException {
        if (!isBCDFormat(bcdArray, bOff, bLen)) {
            Digits.refuse();
        }
        // The number in four digits of 16 bits.
        int a = 0;
        int b = 0;
        int c = 0;
        int d = 0;
        for (short at = 0; at < bLen; at++) {
            d = d * 100 + Digits.pair(bcdArray[bOff + at]);
            c = c * 100 + (d >>> 16);
            b = b * 100 + (c >>> 16);
            a = a * 100 + (b >>> 16);
            if (a > 0xFFFF) {
                Digits.refuse();
            }
            b &= 0xFFFF;
            c &= 0xFFFF;
            d &= 0xFFFF;
        }
        int high = a << 16 | b;
        int low = c << 16 | d;
        short bytes = BYTES_MAX;
        while (bytes > 1 && byteOf(high, low, bytes) == 0) {
            bytes--;
        }
        Util.arrayCompare(hexArray, outOff, hexArray, outOff, bytes);
        for (short at = 0; at < bytes; at++) {
            hexArray[outOff + at] = byteOf(high, low, (short) (bytes - at));
        }
        return bytes;
    }

    /** A byte of a number; the least significant is the first. */
    private static byte byteOf(int high, int low, short place) {
        return (byte) (place > 4 ? high >>> 8 * (place - 5) : low >>> 8 * (place - 1));
    }

    /**
     * Converts a number in hexadecimal form to decimals, without zeros before them.
     *
     * @param hexArray where the number is
     * @param bOff where it starts
     * @param bLen its bytes
     * @param bcdArray where the decimals come
     * @param outOff where they start there
     * @return their bytes, at least 1
     * @throws ArithmeticException for no bytes, and for a number of more than 8
     */
    public static short convertToBCD(byte[] hexArray, short bOff, short bLen, byte[] bcdArray, short outOff)
            throws ArithmeticException {
        Util.arrayCompare(hexArray, bOff, hexArray, bOff, bLen);
        while (bLen > BYTES_MAX && hexArray[bOff] == 0) {
            bOff++;
            bLen--;
        }
        if (bLen <= 0 || bLen > BYTES_MAX) {
            Digits.refuse();
        }
        int high = 0;
        int low = 0;
        for (short at = 0; at < bLen; at++) {
            high = high << 8 | low >>> 24;
            low = low << 8 | hexArray[bOff + at] & 0xFF;
        }
        short bytes = digitBytes(high, low);
        Util.arrayCompare(bcdArray, outOff, bcdArray, outOff, bytes);
        // The last digits come first: each division by 100 gives two.
        for (short at = (short) (bytes - 1); at >= 0; at--) {
            int a = high >>> 16;
            int b = (a % 100) << 16 | high & 0xFFFF;
            int c = (b % 100) << 16 | low >>> 16;
            int d = (c % 100) << 16 | low & 0xFFFF;
            high = a / 100 << 16 | b / 100;
            low = c / 100 << 16 | d / 100;
            bcdArray[outOff + at] = (byte) (d % 100 / 10 << 4 | d % 10);
        }
        return bytes;
    }

    /** Bytes of a number's decimals. */
    private static short digitBytes(int high, int low) {
        for (short bytes = 1; bytes < DIGIT_BYTES_MAX; bytes++) {
            int a = high >>> 16;
            int b = (a % 100) << 16 | high & 0xFFFF;
            int c = (b % 100) << 16 | low >>> 16;
            int d = (c % 100) << 16 | low & 0xFFFF;
            high = a / 100 << 16 | b / 100;
            low = c / 100 << 16 | d / 100;
            if ((high | low) == 0) {
                return bytes;
            }
        }
        return DIGIT_BYTES_MAX;
    }

    /**
     * Says whether bytes are decimals.
     *
     * @param bcdArray where they are
     * @param bOff where they start
     * @param bLen how many they are
     * @return whether each of their digits is at most 9
     * @throws ArithmeticException for no bytes
     */
    public static boolean isBCDFormat(byte[] bcdArray, short bOff, short bLen) throws ArithmeticException {
        Util.arrayCompare(bcdArray, bOff, bcdArray, bOff, bLen);
        if (bLen == 0) {
            Digits.refuse();
        }
        return Digits.areDecimal(bcdArray, bOff, bLen);
    }
}
