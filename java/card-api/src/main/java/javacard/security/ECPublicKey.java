package javacard.security;

/** A public key of an elliptic curve: a point. */
public interface ECPublicKey extends PublicKey, ECKey {
    /**
     * Sets the point, uncompressed.
     *
     * @param buffer where the bytes are, the most significant first
     * @param offset where they start
     * @param length how many they are
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for what is no uncompressed point
     */
    void setW(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Copies the point, uncompressed.
     *
     * @param buffer where to
     * @param offset where the bytes start there
     * @return how many they are
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if it was not set
     */
    short getW(byte[] buffer, short offset) throws CryptoException;
}
