package javacard.security;

/** A key of AES: 16, 24 or 32 bytes. */
public interface AESKey extends SecretKey {
    /**
     * Sets the value, whole or not at all.
     *
     * @param keyData where its bytes are, as many as the key has
     * @param kOff where they start
     */
    void setKey(byte[] keyData, short kOff)
            throws CryptoException, NullPointerException, ArrayIndexOutOfBoundsException;

    /**
     * Copies the value.
     *
     * @param keyData where to
     * @param kOff where it starts there
     * @return how many bytes it has
     * @throws CryptoException {@link CryptoException#UNINITIALIZED_KEY} if there is none
     */
    byte getKey(byte[] keyData, short kOff) throws CryptoException;
}
