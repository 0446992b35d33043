package javacard.security;

/** A key of HMAC: up to the bytes of a block of its hash. */
public interface HMACKey extends SecretKey {
    /**
     * Sets the value, whole or not at all.
     *
     * @param keyData where its bytes are
     * @param kOff where they start
     * @param kLen how many they are
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for none, or more than the key may have
     */
    void setKey(byte[] keyData, short kOff, short kLen)
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
