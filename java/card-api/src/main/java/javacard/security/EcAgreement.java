package javacard.security;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/** ECDH over the curve of the key, plain or hashed. */
final class EcAgreement extends KeyAgreement {
    /** Bytes of the largest X coordinate. */
    private static final short BYTES_MAX = 66;

    private final byte algorithm;
    /** Hash and secret before it; null for the plain secret. */
    private final ShaDigest digest;
    private final byte[] product;
    private StoredPrivateKey key;

    EcAgreement(byte algorithm) {
        Algorithms.require(Algorithms.CURVES);
        this.algorithm = algorithm;
        boolean isHashed = algorithm == ALG_EC_SVDP_DH || algorithm == ALG_EC_SVDP_DHC;
        digest = isHashed ? new ShaDigest(MessageDigest.ALG_SHA) : null;
        product = isHashed ? JCSystem.makeTransientByteArray(BYTES_MAX, JCSystem.CLEAR_ON_RESET) : null;
    }

    public void init(PrivateKey privKey) {
        if (!(privKey instanceof StoredPrivateKey)) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        checkValue(privKey);
        if (key != privKey) {
            key = (StoredPrivateKey) privKey;
        }
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public short generateSecret(
            byte[] publicData, short publicOffset, short publicLength, byte[] secret, short secretOffset) {
        if (key == null) {
            CryptoException.throwIt(CryptoException.INVALID_INIT);
        }
        checkValue(key);
        if (digest == null) {
            return agree(publicData, publicOffset, publicLength, secret, secretOffset);
        }
        short bytes = agree(publicData, publicOffset, publicLength, product, (short) 0);
        bytes = digest.doFinal(product, (short) 0, bytes, secret, secretOffset);
        Util.arrayFillNonAtomic(product, (short) 0, BYTES_MAX, (byte) 0);
        return bytes;
    }

    private short agree(byte[] point, short offset, short length, byte[] secret, short secretOffset) {
        boolean isWhole = algorithm == ALG_EC_SVDP_DH_PLAIN_XY;
        short bytes =
                Algorithms.agree(key.curve(), isWhole, key.value, point, offset, length, secret, secretOffset);
        if (bytes == 0) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        return bytes;
    }

    private static void checkValue(PrivateKey key) {
        if (!key.isInitialized()) {
            CryptoException.throwIt(CryptoException.UNINITIALIZED_KEY);
        }
    }
}
