package javacard.security;

/**
 * A secret from one's private key and another's public key. ECDH over the curves of {@link ECKey} is
 * carried out.
 */
public abstract class KeyAgreement {
    /** ECDH; the secret is the SHA-1 of the X coordinate, 20 bytes. */
    public static final byte ALG_EC_SVDP_DH = 1;

    /** The same. */
    public static final byte ALG_EC_SVDP_DH_KDF = 1;

    /** ECDH; the secret is the X coordinate, as many bytes as the field has. */
    public static final byte ALG_EC_SVDP_DH_PLAIN = 3;

    /** The same as {@link #ALG_EC_SVDP_DH}: cofactors are 1. */
    public static final byte ALG_EC_SVDP_DHC = 2;

    /** The same. */
    public static final byte ALG_EC_SVDP_DHC_KDF = 2;

    /** The same as {@link #ALG_EC_SVDP_DH_PLAIN}: cofactors are 1. */
    public static final byte ALG_EC_SVDP_DHC_PLAIN = 4;

    /** ECDH; the secret is the whole point, uncompressed. */
    public static final byte ALG_EC_SVDP_DH_PLAIN_XY = 6;

    // Names of the specification for what this card does not carry out.
    public static final byte ALG_EC_PACE_GM = 5;
    public static final byte ALG_DH_PLAIN = 7;

    /** For the classes that carry it out. */
    protected KeyAgreement() {
    }

    /**
     * Makes one.
     *
     * @param algorithm one of ECDH
     * @param externalAccess whether other applets use it
     * @return the object
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public static final KeyAgreement getInstance(byte algorithm, boolean externalAccess) throws CryptoException {
        if (algorithm != ALG_EC_SVDP_DH
                && algorithm != ALG_EC_SVDP_DHC
                && algorithm != ALG_EC_SVDP_DH_PLAIN
                && algorithm != ALG_EC_SVDP_DHC_PLAIN
                && algorithm != ALG_EC_SVDP_DH_PLAIN_XY) {
            CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        return new EcAgreement(algorithm);
    }

    /**
     * Sets the private key.
     *
     * @param privKey the key
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for one of another algorithm,
     *     {@link CryptoException#UNINITIALIZED_KEY}
     */
    public abstract void init(PrivateKey privKey) throws CryptoException;

    /**
     * Returns the algorithm.
     *
     * @return what {@link #getInstance} was given
     */
    public abstract byte getAlgorithm();

    /**
     * Computes the secret.
     *
     * @param publicData where the other's point is, uncompressed
     * @param publicOffset where it starts
     * @param publicLength its bytes, 65 for a field of 256 bits
     * @param secret where the secret comes
     * @param secretOffset where it starts there
     * @return its bytes
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for what is no point of the curve,
     *     {@link CryptoException#INVALID_INIT} without a key, {@link CryptoException#UNINITIALIZED_KEY}
     */
    public abstract short generateSecret(
            byte[] publicData, short publicOffset, short publicLength, byte[] secret, short secretOffset)
            throws CryptoException;
}
