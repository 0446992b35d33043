package javacard.security;

/** A private key of an elliptic curve: a number. */
public interface ECPrivateKey extends PrivateKey, ECKey {
    /**
     * Sets the number.
     *
     * @param buffer where the bytes are, the most significant first
     * @param offset where they start
     * @param length how many they are
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for more than the field has
     */
    void setS(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Copies the number.
     *
     * @param buffer where to
     * @param offset where the bytes start there
     * @return how many they are
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if it was not set
     */
    short getS(byte[] buffer, short offset) throws CryptoException;
}
