package javacard.security;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/**
 * Cyclic redundancy codes of ISO 3309: CRC-16 (X.25) and CRC-32, of bits from the least significant one of each byte
 * on. The code so far is in RAM, inverted, so that a reset begins again.
 */
final class Crc extends Checksum {
    private final byte algorithm;
    /** The inverted code, the least significant half first. */
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
        code[0] = Util.getShort(bArray, (short) (bOff + bLen - 2));
        code[1] = bLen == 4 ? Util.getShort(bArray, bOff) : 0;
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public void update(byte[] inBuff, short inOffset, short inLength) {
        Util.arrayCompare(inBuff, inOffset, inBuff, inOffset, inLength);
        for (short at = 0; at < inLength; at++) {
            take(inBuff[(short) (inOffset + at)]);
        }
    }

    private void take(byte data) {
        int value;
        int polynomial;
        if (algorithm == ALG_ISO3309_CRC16) {
            value = ~code[0] & 0xFFFF;
            polynomial = 0x8408;
        } else {
            value = ~(code[1] << 16 | code[0] & 0xFFFF);
            polynomial = 0xEDB88320;
        }
        value ^= data & 0xFF;
        for (byte bit = 0; bit < 8; bit++) {
            value = (value & 1) == 0 ? value >>> 1 : value >>> 1 ^ polynomial;
        }
        code[0] = (short) ~value;
        code[1] = (short) (~value >> 16);
    }

    public short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        update(inBuff, inOffset, inLength);
        // The inverted code is the checksum.
        short low = code[0];
        if (algorithm == ALG_ISO3309_CRC32) {
            outOffset = Util.setShort(outBuff, outOffset, code[1]);
        }
        Util.setShort(outBuff, outOffset, low);
        code[0] = 0;
        code[1] = 0;
        return bytes();
    }
}
