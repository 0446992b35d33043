package javacard.security;

/** A private key of RSA, by its prime factors. */
public interface RSAPrivateCrtKey extends PrivateKey {
    /**
     * Sets the first prime factor, whole or not at all.
     *
     * @param buffer where it is, the most significant byte first
     * @param offset where it starts
     * @param length its bytes
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for one that is longer than the key
     */
    void setP(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets the second prime factor, whole or not at all.
     *
     * @param buffer where it is, the most significant byte first
     * @param offset where it starts
     * @param length its bytes
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for one that is longer than the key
     */
    void setQ(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets the private exponent modulo p - 1, whole or not at all.
     *
     * @param buffer where it is, the most significant byte first
     * @param offset where it starts
     * @param length its bytes
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for one that is longer than the key
     */
    void setDP1(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets the private exponent modulo q - 1, whole or not at all.
     *
     * @param buffer where it is, the most significant byte first
     * @param offset where it starts
     * @param length its bytes
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for one that is longer than the key
     */
    void setDQ1(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets the inverse of q modulo p, whole or not at all.
     *
     * @param buffer where it is, the most significant byte first
     * @param offset where it starts
     * @param length its bytes
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for one that is longer than the key
     */
    void setPQ(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Copies the first prime factor.
     *
     * @param buffer where to
     * @param offset where it starts there
     * @return how many bytes it has
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if there is none
     */
    short getP(byte[] buffer, short offset);

    /**
     * Copies the second prime factor.
     *
     * @param buffer where to
     * @param offset where it starts there
     * @return how many bytes it has
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if there is none
     */
    short getQ(byte[] buffer, short offset);

    /**
     * Copies the private exponent modulo p - 1.
     *
     * @param buffer where to
     * @param offset where it starts there
     * @return how many bytes it has
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if there is none
     */
    short getDP1(byte[] buffer, short offset);

    /**
     * Copies the private exponent modulo q - 1.
     *
     * @param buffer where to
     * @param offset where it starts there
     * @return how many bytes it has
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if there is none
     */
    short getDQ1(byte[] buffer, short offset);

    /**
     * Copies the inverse of q modulo p.
     *
     * @param buffer where to
     * @param offset where it starts there
     * @return how many bytes it has
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if there is none
     */
    short getPQ(byte[] buffer, short offset);
}
