package javacard.security;

/**
 * The parameters of an elliptic curve. The curves of this card are P-192, P-224, P-256, P-384 and P-521 (FIPS 186),
 * brainpoolP256r1 (RFC 5639) and secp256k1 (SEC 2), as far as the card was built with them; P-256 is always there. Keys
 * take the parameters of one of them and no others, and the cofactor may be left out.
 */
public interface ECKey {
    /**
     * Sets the prime of the field.
     *
     * @param buffer where the bytes are, the most significant first
     * @param offset where they start
     * @param length how many they are
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for what no curve of the key's size has
     */
    void setFieldFP(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets a trinomial of a binary field.
     *
     * @param e its middle exponent
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM}
     */
    void setFieldF2M(short e) throws CryptoException;

    /**
     * Sets a pentanomial of a binary field.
     *
     * @param e1 an exponent
     * @param e2 another
     * @param e3 another
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM}
     */
    void setFieldF2M(short e1, short e2, short e3) throws CryptoException;

    /**
     * Sets the coefficient a.
     *
     * @param buffer where the bytes are, the most significant first
     * @param offset where they start
     * @param length how many they are
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for what no curve of the key's size has
     */
    void setA(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets the coefficient b.
     *
     * @param buffer where the bytes are, the most significant first
     * @param offset where they start
     * @param length how many they are
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for what no curve of the key's size has
     */
    void setB(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets the base point, uncompressed.
     *
     * @param buffer where the bytes are, the most significant first
     * @param offset where they start
     * @param length how many they are
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for what no curve of the key's size has
     */
    void setG(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets the order of the base point.
     *
     * @param buffer where the bytes are, the most significant first
     * @param offset where they start
     * @param length how many they are
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for what no curve of the key's size has
     */
    void setR(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Sets the cofactor.
     *
     * @param K the cofactor, 1
     */
    void setK(short K);

    /**
     * Copies the prime of the field.
     *
     * @param buffer where to
     * @param offset where the bytes start there
     * @return how many they are
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if it was not set
     */
    short getField(byte[] buffer, short offset) throws CryptoException;

    /**
     * Copies the coefficient a.
     *
     * @param buffer where to
     * @param offset where the bytes start there
     * @return how many they are
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if it was not set
     */
    short getA(byte[] buffer, short offset) throws CryptoException;

    /**
     * Copies the coefficient b.
     *
     * @param buffer where to
     * @param offset where the bytes start there
     * @return how many they are
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if it was not set
     */
    short getB(byte[] buffer, short offset) throws CryptoException;

    /**
     * Copies the base point, uncompressed.
     *
     * @param buffer where to
     * @param offset where the bytes start there
     * @return how many they are
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if it was not set
     */
    short getG(byte[] buffer, short offset) throws CryptoException;

    /**
     * Copies the order of the base point.
     *
     * @param buffer where to
     * @param offset where the bytes start there
     * @return how many they are
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if it was not set
     */
    short getR(byte[] buffer, short offset) throws CryptoException;

    /**
     * Returns the cofactor.
     *
     * @return 1
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if it was not set
     */
    short getK() throws CryptoException;

    /**
     * Sets all parameters to those of another key.
     *
     * @param ecKey the other
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if it lacks one
     */
    void copyDomainParametersFrom(ECKey ecKey) throws CryptoException;
}
