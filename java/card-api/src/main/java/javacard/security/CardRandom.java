package javacard.security;

import javacard.framework.Util;

/** The runtime's random bytes, under each name that they are fit for. */
final class CardRandom extends RandomData {
    private final byte algorithm;

    CardRandom(byte algorithm) {
        switch (algorithm) {
            case ALG_PSEUDO_RANDOM:
            case ALG_SECURE_RANDOM:
            case ALG_FAST:
            case ALG_KEYGENERATION:
                break;
            default:
                CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        Algorithms.require(Algorithms.RANDOM);
        this.algorithm = algorithm;
    }

    public void generateData(byte[] buffer, short offset, short length) {
        nextBytes(buffer, offset, length);
    }

    public short nextBytes(byte[] buffer, short offset, short length) {
        if (length == 0) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        Algorithms.random(buffer, offset, length);
        return (short) (offset + length);
    }

    public void setSeed(byte[] buffer, short offset, short length) {
        Util.arrayCompare(buffer, offset, buffer, offset, length);
    }

    public byte getAlgorithm() {
        return algorithm;
    }
}
