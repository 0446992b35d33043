package javacard.security;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/**
 * Cyclic redundancy codes as the API describes them: CRC-16 by the polynomial 1021, of bits from the most significant
 * one of each byte on; CRC-32 by 04C11DB7, of bits from the least significant one on, and reversed. Both start with 0
 * where no other value is given, and are inverted at the end. The code so far is in RAM, so that a reset begins again.
 */
final class Crc extends Checksum {
    private static final int POLYNOMIAL_16 = 0x1021;
    /** In the reversed order. */
    private static final int POLYNOMIAL_32 = 0xEDB88320;

    private final byte algorithm;
    /** The code, the least significant half first; that of CRC-32 is reversed. */
    private final short[] code;

    Crc(byte algorithm) {
        if (algorithm != ALG_ISO3309_CRC16 && algorithm != ALG_ISO3309_CRC32) {
            CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        this.algorithm = algorithm;
        code = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_RESET);
    }

    private short bytes() {
        return algorithm == ALG_ISO3309_CRC16 ? (short) 2 : (short) 4;
    }

    public void init(byte[] bArray, short bOff, short bLen) {
        if (bLen != bytes()) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        short high = Util.getShort(bArray, bOff);
        if (algorithm == ALG_ISO3309_CRC16) {
            code[0] = high;
        } else {
            code[1] = reversed(Util.getShort(bArray, (short) (bOff + 2)));
            code[0] = reversed(high);
        }
    }

    private static short reversed(short bits) {
        int result = 0;
        for (byte bit = 0; bit < 16; bit++) {
            result = result << 1 | bits >> bit & 1;
        }
        return (short) result;
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public void update(byte[] inBuff, short inOffset, short inLength) {
        Util.arrayCompare(inBuff, inOffset, inBuff, inOffset, inLength);
        for (short at = 0; at < inLength; at++) {
            if (algorithm == ALG_ISO3309_CRC16) {
                takeFromTop(inBuff[(short) (inOffset + at)]);
            } else {
                takeFromBottom(inBuff[(short) (inOffset + at)]);
            }
        }
    }

    private void takeFromTop(byte data) {
        int value = code[0] ^ data << 8;
        for (byte bit = 0; bit < 8; bit++) {
            value = (value & 0x8000) == 0 ? value << 1 : value << 1 ^ POLYNOMIAL_16;
        }
        code[0] = (short) value;
    }

    private void takeFromBottom(byte data) {
        int value = code[1] << 16 | code[0] & 0xFFFF;
        value ^= data & 0xFF;
        for (byte bit = 0; bit < 8; bit++) {
            value = (value & 1) == 0 ? value >>> 1 : value >>> 1 ^ POLYNOMIAL_32;
        }
        code[0] = (short) value;
        code[1] = (short) (value >> 16);
    }

    public short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        update(inBuff, inOffset, inLength);
        if (algorithm == ALG_ISO3309_CRC32) {
            outOffset = Util.setShort(outBuff, outOffset, (short) ~code[1]);
        }
        Util.setShort(outBuff, outOffset, (short) ~code[0]);
        code[0] = 0;
        code[1] = 0;
        return bytes();
    }
}
