package javacard.security;

/** A public key of RSA. */
public interface RSAPublicKey extends PublicKey {
    /**
     * Sets the modulus, whole or not at all.
     *
     * @param buffer where it is, the most significant byte first
     * @param offset where it starts
     * @param length its bytes
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for one that is longer than the key
     */
    void setModulus(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets the public exponent, whole or not at all.
     *
     * @param buffer where it is, the most significant byte first
     * @param offset where it starts
     * @param length its bytes
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for one that is longer than the key
     */
    void setExponent(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Copies the modulus.
     *
     * @param buffer where to
     * @param offset where it starts there
     * @return how many bytes it has
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if there is none
     */
    short getModulus(byte[] buffer, short offset);

    /**
     * Copies the public exponent.
     *
     * @param buffer where to
     * @param offset where it starts there
     * @return how many bytes it has
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if there is none
     */
    short getExponent(byte[] buffer, short offset);
}
