package javacard.security;

import javacard.framework.JCSystem;

/**
 * Makes keys, on flash or, secret and private ones, in RAM: of AES, DES and HMAC; of curves, see {@link ECKey}; of RSA
 * with 1,024 to 4,096 bits, a multiple of 32, where the card was built with it. Every other type and length is refused
 * with {@link CryptoException#NO_SUCH_ALGORITHM}, and so are keys that are set encrypted.
 */
public class KeyBuilder {
    /** A public key of an elliptic curve over a prime field. */
    public static final byte TYPE_EC_FP_PUBLIC = 11;

    /** A private one. */
    public static final byte TYPE_EC_FP_PRIVATE = 12;

    /** An AES key that a reset clears. */
    public static final byte TYPE_AES_TRANSIENT_RESET = 13;

    /** An AES key that deselection clears, too. */
    public static final byte TYPE_AES_TRANSIENT_DESELECT = 14;

    /** An AES key. */
    public static final byte TYPE_AES = 15;

    /** A private one that a reset clears. */
    public static final byte TYPE_EC_FP_PRIVATE_TRANSIENT_RESET = 30;

    /** A private one that deselection clears, too. */
    public static final byte TYPE_EC_FP_PRIVATE_TRANSIENT_DESELECT = 31;

    /** AES. */
    public static final byte ALG_TYPE_AES = 2;

    /** An elliptic curve over a prime field, the public key. */
    public static final byte ALG_TYPE_EC_FP_PUBLIC = 7;

    /** The private key. */
    public static final byte ALG_TYPE_EC_FP_PRIVATE = 8;

    /** P-256. */
    public static final short LENGTH_EC_FP_256 = 256;

    /** AES-128. */
    public static final short LENGTH_AES_128 = 128;

    /** AES-256. */
    public static final short LENGTH_AES_256 = 256;

    /** A key of DES that a reset clears. */
    public static final byte TYPE_DES_TRANSIENT_RESET = 1;

    /** A key of DES that deselection clears. */
    public static final byte TYPE_DES_TRANSIENT_DESELECT = 2;

    /** A key of DES. */
    public static final byte TYPE_DES = 3;

    /** A key of HMAC that a reset clears. */
    public static final byte TYPE_HMAC_TRANSIENT_RESET = 19;

    /** A key of HMAC that deselection clears. */
    public static final byte TYPE_HMAC_TRANSIENT_DESELECT = 20;

    /** A key of HMAC. */
    public static final byte TYPE_HMAC = 21;

    /** Keys of DES. */
    public static final byte ALG_TYPE_DES = 1;

    /** Keys of HMAC. */
    public static final byte ALG_TYPE_HMAC = 9;

    /** Bits of a key of DES, parities included. */
    public static final short LENGTH_DES = 64;

    /** Bits of two keys of DES. */
    public static final short LENGTH_DES3_2KEY = 128;

    /** Bits of three keys of DES. */
    public static final short LENGTH_DES3_3KEY = 192;

    /** Bits of P-192. */
    public static final short LENGTH_EC_FP_192 = 192;

    /** Bits of P-224. */
    public static final short LENGTH_EC_FP_224 = 224;

    /** Bits of P-384. */
    public static final short LENGTH_EC_FP_384 = 384;

    /** Bits of P-521. */
    public static final short LENGTH_EC_FP_521 = 521;

    /** Bits of a key of AES-192. */
    public static final short LENGTH_AES_192 = 192;

    /** Bytes that a key of HMAC has at most for SHA-1. */
    public static final short LENGTH_HMAC_SHA_1_BLOCK_64 = 64;

    /** Bytes that a key of HMAC has at most for SHA-256. */
    public static final short LENGTH_HMAC_SHA_256_BLOCK_64 = 64;

    /** Bytes that a key of HMAC has at most for SHA-384. */
    public static final short LENGTH_HMAC_SHA_384_BLOCK_128 = 128;

    /** Bytes that a key of HMAC has at most for SHA-512. */
    public static final short LENGTH_HMAC_SHA_512_BLOCK_128 = 128;

    /** A public key of RSA. */
    public static final byte TYPE_RSA_PUBLIC = 4;

    /** A private key of RSA, by modulus and exponent. */
    public static final byte TYPE_RSA_PRIVATE = 5;

    /** A private key of RSA, by its prime factors. */
    public static final byte TYPE_RSA_CRT_PRIVATE = 6;

    /** A private key of RSA that a reset clears. */
    public static final byte TYPE_RSA_PRIVATE_TRANSIENT_RESET = 22;

    /** A private key of RSA that deselection clears. */
    public static final byte TYPE_RSA_PRIVATE_TRANSIENT_DESELECT = 23;

    /** A private key of RSA, by its prime factors, that a reset clears. */
    public static final byte TYPE_RSA_CRT_PRIVATE_TRANSIENT_RESET = 24;

    /** A private key of RSA, by its prime factors, that deselection clears. */
    public static final byte TYPE_RSA_CRT_PRIVATE_TRANSIENT_DESELECT = 25;

    /** Public keys of RSA. */
    public static final byte ALG_TYPE_RSA_PUBLIC = 11;

    /** Private keys of RSA. */
    public static final byte ALG_TYPE_RSA_PRIVATE = 12;

    /** Private keys of RSA, by their prime factors. */
    public static final byte ALG_TYPE_RSA_CRT_PRIVATE = 13;

    /** Bits of a modulus. */
    public static final short LENGTH_RSA_1024 = 1024;

    /** Bits of a modulus. */
    public static final short LENGTH_RSA_1280 = 1280;

    /** Bits of a modulus. */
    public static final short LENGTH_RSA_1536 = 1536;

    /** Bits of a modulus. */
    public static final short LENGTH_RSA_1984 = 1984;

    /** Bits of a modulus. */
    public static final short LENGTH_RSA_2048 = 2048;

    /** Bits of a modulus. */
    public static final short LENGTH_RSA_3072 = 3072;

    /** Bits of a modulus. */
    public static final short LENGTH_RSA_4096 = 4096;

    /** Parameters of a curve, for keys that share them. */
    public static final byte ALG_TYPE_EC_FP_PARAMETERS = 17;

    // Names of the specification for what this card does not carry out.
    public static final byte TYPE_DSA_PUBLIC = 7;
    public static final byte TYPE_DSA_PRIVATE = 8;
    public static final byte TYPE_EC_F2M_PUBLIC = 9;
    public static final byte TYPE_EC_F2M_PRIVATE = 10;
    public static final byte TYPE_KOREAN_SEED_TRANSIENT_RESET = 16;
    public static final byte TYPE_KOREAN_SEED_TRANSIENT_DESELECT = 17;
    public static final byte TYPE_KOREAN_SEED = 18;
    public static final byte TYPE_DSA_PRIVATE_TRANSIENT_RESET = 26;
    public static final byte TYPE_DSA_PRIVATE_TRANSIENT_DESELECT = 27;
    public static final byte TYPE_EC_F2M_PRIVATE_TRANSIENT_RESET = 28;
    public static final byte TYPE_EC_F2M_PRIVATE_TRANSIENT_DESELECT = 29;
    public static final byte TYPE_DH_PUBLIC = 32;
    public static final byte TYPE_DH_PUBLIC_TRANSIENT_DESELECT = 33;
    public static final byte TYPE_DH_PUBLIC_TRANSIENT_RESET = 34;
    public static final byte TYPE_DH_PRIVATE = 35;
    public static final byte TYPE_DH_PRIVATE_TRANSIENT_DESELECT = 36;
    public static final byte TYPE_DH_PRIVATE_TRANSIENT_RESET = 37;
    public static final byte ALG_TYPE_DSA_PUBLIC = 3;
    public static final byte ALG_TYPE_DSA_PRIVATE = 4;
    public static final byte ALG_TYPE_EC_F2M_PUBLIC = 5;
    public static final byte ALG_TYPE_EC_F2M_PRIVATE = 6;
    public static final byte ALG_TYPE_KOREAN_SEED = 10;
    public static final byte ALG_TYPE_DH_PUBLIC = 14;
    public static final byte ALG_TYPE_DH_PRIVATE = 15;
    public static final byte ALG_TYPE_EC_F2M_PARAMETERS = 16;
    public static final byte ALG_TYPE_DSA_PARAMETERS = 18;
    public static final byte ALG_TYPE_DH_PARAMETERS = 19;
    public static final short LENGTH_RSA_512 = 512;
    public static final short LENGTH_RSA_736 = 736;
    public static final short LENGTH_RSA_768 = 768;
    public static final short LENGTH_RSA_896 = 896;
    public static final short LENGTH_DSA_512 = 512;
    public static final short LENGTH_DSA_768 = 768;
    public static final short LENGTH_DSA_1024 = 1024;
    public static final short LENGTH_EC_FP_112 = 112;
    public static final short LENGTH_EC_F2M_113 = 113;
    public static final short LENGTH_EC_FP_128 = 128;
    public static final short LENGTH_EC_F2M_131 = 131;
    public static final short LENGTH_EC_FP_160 = 160;
    public static final short LENGTH_EC_F2M_163 = 163;
    public static final short LENGTH_EC_F2M_193 = 193;
    public static final short LENGTH_KOREAN_SEED_128 = 128;
    public static final short LENGTH_DH_1024 = 1024;
    public static final short LENGTH_DH_2048 = 2048;

    private KeyBuilder() {
    }

    /**
     * Makes a key without a value.
     *
     * @param keyType a TYPE
     * @param keyLength bits
     * @param keyEncryption whether its value is set encrypted; false
     * @return the key
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM}
     */
    public static Key buildKey(byte keyType, short keyLength, boolean keyEncryption) throws CryptoException {
        if (keyEncryption) {
            CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        return Keys.build(keyType, keyLength);
    }

    /**
     * Makes a key without a value.
     *
     * @param algorithmicKeyType an ALG_TYPE
     * @param keyMemoryType a MEMORY_TYPE of {@link JCSystem}
     * @param keyLength bits
     * @param keyEncryption whether its value is set encrypted; false
     * @return the key
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM}
     */
    public static Key buildKey(byte algorithmicKeyType, byte keyMemoryType, short keyLength, boolean keyEncryption)
            throws CryptoException {
        if (algorithmicKeyType == ALG_TYPE_EC_FP_PARAMETERS && keyMemoryType == JCSystem.MEMORY_TYPE_PERSISTENT) {
            return new StoredParameters(keyLength);
        }
        return buildKey(Keys.type(algorithmicKeyType, keyMemoryType), keyLength, keyEncryption);
    }

    /**
     * Makes a key without a value, whose curve is that of another key: what is set in one is set in both.
     *
     * @param algorithmicKeyType {@link #ALG_TYPE_EC_FP_PUBLIC} or {@link #ALG_TYPE_EC_FP_PRIVATE}
     * @param keyMemoryType a MEMORY_TYPE of {@link JCSystem}
     * @param domainParameters a key of a curve, or of {@link #ALG_TYPE_EC_FP_PARAMETERS}
     * @param keyEncryption whether its value is set encrypted; false
     * @return the key
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM}; {@link CryptoException#ILLEGAL_VALUE} for
     *     parameters of another kind
     */
    public static Key buildKeyWithSharedDomain(
            byte algorithmicKeyType, byte keyMemoryType, Key domainParameters, boolean keyEncryption)
            throws CryptoException {
        if (keyEncryption) {
            CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        if (!(domainParameters instanceof StoredEcKey)) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        return Keys.build(Keys.type(algorithmicKeyType, keyMemoryType), ((StoredEcKey) domainParameters).domain());
    }
}
