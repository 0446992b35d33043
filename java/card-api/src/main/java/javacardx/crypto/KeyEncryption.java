package javacardx.crypto;

/** A key whose value is set encrypted. The keys of this card are not. */
public interface KeyEncryption {
    /**
     * Sets the cipher that the value is decrypted with.
     *
     * @param keyCipher the cipher, or null for none
     */
    void setKeyCipher(Cipher keyCipher);

    /**
     * Returns that cipher.
     *
     * @return the cipher, or null
     */
    Cipher getKeyCipher();
}
