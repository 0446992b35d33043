package javacard.security;

/** A public and a private key that belong together. */
public final class KeyPair {
    /** Elliptic curves over a prime field. */
    public static final byte ALG_EC_FP = 5;

    /** RSA, the private key by modulus and exponent. */
    public static final byte ALG_RSA = 1;

    /** RSA, the private key by its prime factors. */
    public static final byte ALG_RSA_CRT = 2;

    // Names of the specification for what this card does not carry out.
    public static final byte ALG_DSA = 3;
    public static final byte ALG_EC_F2M = 4;
    public static final byte ALG_DH = 6;

    private final PublicKey publicKey;
    private final PrivateKey privateKey;

    /**
     * Makes two keys without values.
     *
     * @param algorithm {@link #ALG_EC_FP}, {@link #ALG_RSA} or {@link #ALG_RSA_CRT}
     * @param keyLength one of {@link KeyBuilder}'s lengths
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public KeyPair(byte algorithm, short keyLength) throws CryptoException {
        byte open = 0;
        byte secret = 0;
        switch (algorithm) {
            case ALG_EC_FP:
                open = KeyBuilder.TYPE_EC_FP_PUBLIC;
                secret = KeyBuilder.TYPE_EC_FP_PRIVATE;
                break;
            case ALG_RSA:
                open = KeyBuilder.TYPE_RSA_PUBLIC;
                secret = KeyBuilder.TYPE_RSA_PRIVATE;
                break;
            case ALG_RSA_CRT:
                open = KeyBuilder.TYPE_RSA_PUBLIC;
                secret = KeyBuilder.TYPE_RSA_CRT_PRIVATE;
                break;
            default:
                CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        publicKey = (PublicKey) KeyBuilder.buildKey(open, keyLength, false);
        privateKey = (PrivateKey) KeyBuilder.buildKey(secret, keyLength, false);
    }

    /**
     * Joins two keys, which keep their values.
     *
     * @param publicKey the one
     * @param privateKey the other
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} if they are not of one algorithm and size
     */
    public KeyPair(PublicKey publicKey, PrivateKey privateKey) throws CryptoException {
        Keys.checkPair(publicKey, privateKey);
        this.publicKey = publicKey;
        this.privateKey = privateKey;
    }

    /** Draws new values for both keys, and sets the parameters that they lack; all of it or nothing. */
    public void genKeyPair() throws CryptoException {
        Keys.generate(publicKey, privateKey);
    }

    /**
     * Returns the public key.
     *
     * @return always the same object
     */
    public PublicKey getPublic() {
        return publicKey;
    }

    /**
     * Returns the private key.
     *
     * @return always the same object
     */
    public PrivateKey getPrivate() {
        return privateKey;
    }
}
