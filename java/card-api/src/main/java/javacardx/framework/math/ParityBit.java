package javacardx.framework.math;

import javacard.framework.Util;

/** The parity bits of a key of DES: the lowest of each byte. */
public final class ParityBit {
    /** An object of which nothing is needed: the method is static. */
    public ParityBit() {
    }

    /**
     * Sets the lowest bit of each byte, so that the byte has an even or an odd number of ones.
     *
     * @param bArray where the bytes are
     * @param bOff where they start
     * @param bLen how many they are
     * @param isEven whether the number is to be even
     */
    public static void set(byte[] bArray, short bOff, short bLen, boolean isEven) {
        Util.arrayCompare(bArray, bOff, bArray, bOff, bLen);
        for (short at = 0; at < bLen; at++) {
            int byteAt = bArray[bOff + at];
            int ones = byteAt >> 1 & 0x7F;
            ones ^= ones >> 4;
            ones ^= ones >> 2;
            ones ^= ones >> 1;
            bArray[bOff + at] = (byte) (byteAt & 0xFE | (isEven ? ones & 1 : ~ones & 1));
        }
    }
}
