package javacard.security;

/** A key of DES: 8 bytes; 16 or 24 for DES three times. */
public interface DESKey extends SecretKey {
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
    byte getKey(byte[] keyData, short kOff);
}
