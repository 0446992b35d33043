package javacard.security;

import javacard.framework.JCSystem;

/** ECDH over P-256, plain or hashed. */
final class EcAgreement extends KeyAgreement {
    private static final short BYTES = 32;

    private final byte algorithm;
    /** Hash and secret before it; null for the plain secret. */
    private final ShaDigest digest;
    private final byte[] product;
    private StoredPrivateKey key;

    EcAgreement(byte algorithm) {
        this.algorithm = algorithm;
        if (algorithm == ALG_EC_SVDP_DH) {
            digest = new ShaDigest(MessageDigest.ALG_SHA);
            product = JCSystem.makeTransientByteArray(BYTES, JCSystem.CLEAR_ON_RESET);
        } else {
            digest = null;
            product = null;
        }
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
        agree(publicData, publicOffset, publicLength, product, (short) 0);
        return digest.doFinal(product, (short) 0, BYTES, secret, secretOffset);
    }

    private short agree(byte[] point, short offset, short length, byte[] secret, short secretOffset) {
        short bytes = Algorithms.agree(key.value, point, offset, length, secret, secretOffset);
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
