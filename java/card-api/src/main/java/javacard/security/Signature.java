package javacard.security;

import javacard.framework.JCSystem;

/** Signatures, and codes that prove a key: ECDSA as a DER sequence, RSA, HMAC, CMAC, and CBC-MAC. */
public abstract class Signature {
    /** ECDSA of SHA-1. */
    public static final byte ALG_ECDSA_SHA = 17;

    /** ECDSA of SHA-256. */
    public static final byte ALG_ECDSA_SHA_256 = 33;

    /** ECDSA, as a DER sequence. */
    public static final byte SIG_CIPHER_ECDSA = 5;

    /** To sign. */
    public static final byte MODE_SIGN = 1;

    /** To verify. */
    public static final byte MODE_VERIFY = 2;

    /** ECDSA of SHA-224. */
    public static final byte ALG_ECDSA_SHA_224 = 37;

    /** ECDSA of SHA-384. */
    public static final byte ALG_ECDSA_SHA_384 = 34;

    /** ECDSA of SHA-512. */
    public static final byte ALG_ECDSA_SHA_512 = 38;

    /** HMAC of SHA-1. */
    public static final byte ALG_HMAC_SHA1 = 24;

    /** HMAC of SHA-256. */
    public static final byte ALG_HMAC_SHA_256 = 25;

    /** HMAC of SHA-384. */
    public static final byte ALG_HMAC_SHA_384 = 26;

    /** HMAC of SHA-512. */
    public static final byte ALG_HMAC_SHA_512 = 27;

    /** CBC-MAC of DES, 4 bytes, of whole blocks. */
    public static final byte ALG_DES_MAC4_NOPAD = 1;

    /** CBC-MAC of DES, 8 bytes, of whole blocks. */
    public static final byte ALG_DES_MAC8_NOPAD = 2;

    /** CBC-MAC of DES, 4 bytes, zeros as padding. */
    public static final byte ALG_DES_MAC4_ISO9797_M1 = 3;

    /** CBC-MAC of DES, 8 bytes, zeros as padding. */
    public static final byte ALG_DES_MAC8_ISO9797_M1 = 4;

    /** CBC-MAC of DES, 4 bytes, 80 and zeros as padding. */
    public static final byte ALG_DES_MAC4_ISO9797_M2 = 5;

    /** CBC-MAC of DES, 8 bytes, 80 and zeros as padding. */
    public static final byte ALG_DES_MAC8_ISO9797_M2 = 6;

    /** CBC-MAC of DES, 4 bytes, padded by PKCS#5. */
    public static final byte ALG_DES_MAC4_PKCS5 = 7;

    /** CBC-MAC of DES, 8 bytes, padded by PKCS#5. */
    public static final byte ALG_DES_MAC8_PKCS5 = 8;

    /** Retail MAC, 4 bytes, 80 and zeros as padding. */
    public static final byte ALG_DES_MAC4_ISO9797_1_M2_ALG3 = 19;

    /** Retail MAC, 8 bytes, 80 and zeros as padding. */
    public static final byte ALG_DES_MAC8_ISO9797_1_M2_ALG3 = 20;

    /** Retail MAC, 4 bytes, zeros as padding. */
    public static final byte ALG_DES_MAC4_ISO9797_1_M1_ALG3 = 47;

    /** Retail MAC, 8 bytes, zeros as padding. */
    public static final byte ALG_DES_MAC8_ISO9797_1_M1_ALG3 = 48;

    /** CBC-MAC of AES, 16 bytes, of whole blocks. */
    public static final byte ALG_AES_MAC_128_NOPAD = 18;

    /** CMAC of AES, 16 bytes. */
    public static final byte ALG_AES_CMAC_128 = 49;

    /** CBC-MAC of DES, 4 bytes. */
    public static final byte SIG_CIPHER_DES_MAC4 = 1;

    /** CBC-MAC of DES, 8 bytes. */
    public static final byte SIG_CIPHER_DES_MAC8 = 2;

    /** CBC-MAC of AES. */
    public static final byte SIG_CIPHER_AES_MAC128 = 6;

    /** CMAC of AES. */
    public static final byte SIG_CIPHER_AES_CMAC128 = 10;

    /** HMAC. */
    public static final byte SIG_CIPHER_HMAC = 7;

    /** RSA of SHA-1, with the older padding of PKCS#1. */
    public static final byte ALG_RSA_SHA_PKCS1 = 10;

    /** RSA of SHA-1, with PSS. */
    public static final byte ALG_RSA_SHA_PKCS1_PSS = 21;

    /** RSA of SHA-224, with the older padding of PKCS#1. */
    public static final byte ALG_RSA_SHA_224_PKCS1 = 39;

    /** RSA of SHA-256, with the older padding of PKCS#1. */
    public static final byte ALG_RSA_SHA_256_PKCS1 = 40;

    /** RSA of SHA-384, with the older padding of PKCS#1. */
    public static final byte ALG_RSA_SHA_384_PKCS1 = 41;

    /** RSA of SHA-512, with the older padding of PKCS#1. */
    public static final byte ALG_RSA_SHA_512_PKCS1 = 42;

    /** RSA of SHA-224, with PSS. */
    public static final byte ALG_RSA_SHA_224_PKCS1_PSS = 43;

    /** RSA of SHA-256, with PSS. */
    public static final byte ALG_RSA_SHA_256_PKCS1_PSS = 44;

    /** RSA of SHA-384, with PSS. */
    public static final byte ALG_RSA_SHA_384_PKCS1_PSS = 45;

    /** RSA of SHA-512, with PSS. */
    public static final byte ALG_RSA_SHA_512_PKCS1_PSS = 46;

    /** RSA. */
    public static final byte SIG_CIPHER_RSA = 3;

    // Names of the specification for what this card does not carry out. CBC-MAC of AES with blocks of 192 and 256 bits,
    // which AES does not have, is deprecated by 3.0.5.
    public static final byte ALG_RSA_SHA_ISO9796 = 9;
    public static final byte ALG_RSA_MD5_PKCS1 = 11;
    public static final byte ALG_RSA_RIPEMD160_ISO9796 = 12;
    public static final byte ALG_RSA_RIPEMD160_PKCS1 = 13;
    public static final byte ALG_DSA_SHA = 14;
    public static final byte ALG_RSA_SHA_RFC2409 = 15;
    public static final byte ALG_RSA_MD5_RFC2409 = 16;
    public static final byte ALG_RSA_MD5_PKCS1_PSS = 22;
    public static final byte ALG_RSA_RIPEMD160_PKCS1_PSS = 23;
    public static final byte ALG_HMAC_MD5 = 28;
    public static final byte ALG_HMAC_RIPEMD160 = 29;
    public static final byte ALG_RSA_SHA_ISO9796_MR = 30;
    public static final byte ALG_RSA_RIPEMD160_ISO9796_MR = 31;
    public static final byte ALG_KOREAN_SEED_MAC_NOPAD = 32;
    public static final byte ALG_AES_MAC_192_NOPAD = 35;
    public static final byte ALG_AES_MAC_256_NOPAD = 36;
    public static final byte SIG_CIPHER_DSA = 4;
    public static final byte SIG_CIPHER_ECDSA_PLAIN = 9;
    public static final byte SIG_CIPHER_KOREAN_SEED_MAC = 8;

    /** For the classes that carry it out. */
    protected Signature() {
    }

    /**
     * Makes one.
     *
     * @param algorithm an ALG; of those that the card carries out, each has a line of its own above
     * @param externalAccess whether other applets use it
     * @return the object
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public static final Signature getInstance(byte algorithm, boolean externalAccess) throws CryptoException {
        switch (algorithm) {
            case ALG_ECDSA_SHA:
                return new EcdsaSignature(algorithm, MessageDigest.ALG_SHA);
            case ALG_ECDSA_SHA_224:
                return new EcdsaSignature(algorithm, MessageDigest.ALG_SHA_224);
            case ALG_ECDSA_SHA_256:
                return new EcdsaSignature(algorithm, MessageDigest.ALG_SHA_256);
            case ALG_ECDSA_SHA_384:
                return new EcdsaSignature(algorithm, MessageDigest.ALG_SHA_384);
            case ALG_ECDSA_SHA_512:
                return new EcdsaSignature(algorithm, MessageDigest.ALG_SHA_512);
            case ALG_HMAC_SHA1:
                return new HmacSignature(algorithm, MessageDigest.ALG_SHA);
            case ALG_HMAC_SHA_256:
                return new HmacSignature(algorithm, MessageDigest.ALG_SHA_256);
            case ALG_HMAC_SHA_384:
                return new HmacSignature(algorithm, MessageDigest.ALG_SHA_384);
            case ALG_HMAC_SHA_512:
                return new HmacSignature(algorithm, MessageDigest.ALG_SHA_512);
            case ALG_RSA_SHA_PKCS1:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA, RsaSignature.PAD_PKCS1);
            case ALG_RSA_SHA_224_PKCS1:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA_224, RsaSignature.PAD_PKCS1);
            case ALG_RSA_SHA_256_PKCS1:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA_256, RsaSignature.PAD_PKCS1);
            case ALG_RSA_SHA_384_PKCS1:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA_384, RsaSignature.PAD_PKCS1);
            case ALG_RSA_SHA_512_PKCS1:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA_512, RsaSignature.PAD_PKCS1);
            case ALG_RSA_SHA_PKCS1_PSS:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA, RsaSignature.PAD_PKCS1_PSS);
            case ALG_RSA_SHA_224_PKCS1_PSS:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA_224, RsaSignature.PAD_PKCS1_PSS);
            case ALG_RSA_SHA_256_PKCS1_PSS:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA_256, RsaSignature.PAD_PKCS1_PSS);
            case ALG_RSA_SHA_384_PKCS1_PSS:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA_384, RsaSignature.PAD_PKCS1_PSS);
            case ALG_RSA_SHA_512_PKCS1_PSS:
                return new RsaSignature(algorithm, MessageDigest.ALG_SHA_512, RsaSignature.PAD_PKCS1_PSS);
            case RsaSignature.RAW:
                return new RsaSignature(algorithm, MessageDigest.ALG_NULL, EcdsaSignature.PAD_NULL);
            default:
                return new BlockMac(algorithm);
        }
    }

    /**
     * Makes one.
     *
     * @param messageDigestAlgorithm an ALG of {@link MessageDigest} with a line of its own there;
     *     {@link MessageDigest#ALG_NULL} for codes of block ciphers
     * @param cipherAlgorithm a SIG_CIPHER with a line of its own above
     * @param paddingAlgorithm {@code Cipher.PAD_NULL} for ECDSA, HMAC and CMAC, which also takes {@code PAD_NOPAD} and
     *     {@code PAD_ISO9797_M2}; {@code PAD_PKCS1} or {@code PAD_PKCS1_PSS} for RSA; {@code PAD_NOPAD} for CBC-MAC of
     *     AES; one of blocks, or of the retail MAC, for DES
     * @param externalAccess whether other applets use it
     * @return the object
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public static final Signature getInstance(
            byte messageDigestAlgorithm, byte cipherAlgorithm, byte paddingAlgorithm, boolean externalAccess)
            throws CryptoException {
        return getInstance(
                SignatureNames.algorithm(messageDigestAlgorithm, cipherAlgorithm, paddingAlgorithm), externalAccess);
    }

    /**
     * Sets the key, and begins again.
     *
     * @param theKey a private key to sign, a public key to verify
     * @param theMode {@link #MODE_SIGN} or {@link #MODE_VERIFY}
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for a key that does not fit,
     *     {@link CryptoException#UNINITIALIZED_KEY}
     */
    public abstract void init(Key theKey, byte theMode) throws CryptoException;

    /**
     * Sets the key, and the initial vector of a CBC-MAC, as long as a block. Other algorithms have no parameters.
     *
     * @param theKey a key
     * @param theMode a MODE
     * @param bArray where the parameters are
     * @param bOff where they start
     * @param bLen how many bytes they are
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE}
     */
    public abstract void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) throws CryptoException;

    /**
     * Begins after data that were hashed elsewhere; {@link InitializedMessageDigest#setInitialDigest} says how.
     *
     * @param initialDigestBuf where their intermediate hash is
     * @param initialDigestOffset where it starts
     * @param initialDigestLength its bytes
     * @param digestedMsgLenBuf where the number of their bytes is
     * @param digestedMsgLenOffset where it starts
     * @param digestedMsgLenLength bytes of that number
     */
    public abstract void setInitialDigest(
            byte[] initialDigestBuf,
            short initialDigestOffset,
            short initialDigestLength,
            byte[] digestedMsgLenBuf,
            short digestedMsgLenOffset,
            short digestedMsgLenLength)
            throws CryptoException;

    /**
     * Returns the algorithm.
     *
     * @return an ALG
     */
    public abstract byte getAlgorithm();

    /**
     * Returns the hash's algorithm.
     *
     * @return an ALG of {@link MessageDigest}
     */
    public abstract byte getMessageDigestAlgorithm();

    /**
     * Returns the signature's algorithm.
     *
     * @return a SIG_CIPHER
     */
    public abstract byte getCipherAlgorithm();

    /**
     * Returns the padding.
     *
     * @return a PAD of {@code javacardx.crypto.Cipher}
     */
    public abstract byte getPaddingAlgorithm();

    /**
     * Returns the length of a signature.
     *
     * @return bytes, at most
     * @throws CryptoException {@link CryptoException#INVALID_INIT} without a key,
     *     {@link CryptoException#UNINITIALIZED_KEY}
     */
    public abstract short getLength() throws CryptoException;

    /**
     * Takes data.
     *
     * @param inBuff where they are
     * @param inOffset where they start
     * @param inLength how many they are
     */
    public abstract void update(byte[] inBuff, short inOffset, short inLength) throws CryptoException;

    /**
     * Takes the last data, signs, and begins again.
     *
     * @param inBuff where the data are
     * @param inOffset where they start
     * @param inLength how many they are
     * @param sigBuff where the signature comes; it may be the same array
     * @param sigOffset where it starts there
     * @return its bytes
     */
    public abstract short sign(byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset)
            throws CryptoException;

    /**
     * Signs a hash that was computed elsewhere, and begins again.
     *
     * @param hashBuff where the hash is
     * @param hashOffset where it starts
     * @param hashLength its bytes
     * @param sigBuff where the signature comes; it may be the same array
     * @param sigOffset where it starts there
     * @return its bytes
     * @throws CryptoException {@link CryptoException#ILLEGAL_USE} for a hash of another length
     */
    public abstract short signPreComputedHash(
            byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset)
            throws CryptoException;

    /**
     * Takes the last data, compares, and begins again.
     *
     * @param inBuff where the data are
     * @param inOffset where they start
     * @param inLength how many they are
     * @param sigBuff where the signature is
     * @param sigOffset where it starts
     * @param sigLength its bytes
     * @return whether it is one of the data
     */
    public abstract boolean verify(
            byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset, short sigLength)
            throws CryptoException;

    /**
     * Compares a signature with a hash that was computed elsewhere, and begins again.
     *
     * @param hashBuff where the hash is
     * @param hashOffset where it starts
     * @param hashLength its bytes
     * @param sigBuff where the signature is
     * @param sigOffset where it starts
     * @param sigLength its bytes
     * @return whether it is one of the hash
     */
    public abstract boolean verifyPreComputedHash(
            byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset, short sigLength)
            throws CryptoException;

    /** One for a single use, without {@code update}. After {@link #close} it throws ILLEGAL_USE. */
    public static final class OneShot extends Signature {
        private Signature one;

        private OneShot() {
        }

        /**
         * Makes one: two objects on flash and the RAM that {@link Signature#getInstance} takes.
         *
         * @param messageDigestAlgorithm an ALG of {@link MessageDigest}
         * @param cipherAlgorithm a SIG_CIPHER
         * @param paddingAlgorithm a PAD of Cipher
         * @return the object
         * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
         */
        public static final OneShot open(byte messageDigestAlgorithm, byte cipherAlgorithm, byte paddingAlgorithm)
                throws CryptoException {
            OneShot made = new OneShot();
            made.one = getInstance(messageDigestAlgorithm, cipherAlgorithm, paddingAlgorithm, false);
            return made;
        }

        /** Has it deleted after this command, with what it keeps; once more, this does nothing. */
        public void close() {
            if (one != null) {
                one = null;
                JCSystem.requestObjectDeletion();
            }
        }

        private Signature one() {
            if (one == null) {
                CryptoException.throwIt(CryptoException.ILLEGAL_USE);
            }
            return one;
        }

        public final void update(byte[] inBuff, short inOffset, short inLength) throws CryptoException {
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }

        public void init(Key theKey, byte theMode) throws CryptoException {
            one().init(theKey, theMode);
        }

        public void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) throws CryptoException {
            one().init(theKey, theMode, bArray, bOff, bLen);
        }

        public void setInitialDigest(
                byte[] initialDigestBuf,
                short initialDigestOffset,
                short initialDigestLength,
                byte[] digestedMsgLenBuf,
                short digestedMsgLenOffset,
                short digestedMsgLenLength)
                throws CryptoException {
            one().setInitialDigest(
                    initialDigestBuf,
                    initialDigestOffset,
                    initialDigestLength,
                    digestedMsgLenBuf,
                    digestedMsgLenOffset,
                    digestedMsgLenLength);
        }

        public byte getAlgorithm() {
            return one().getAlgorithm();
        }

        public byte getMessageDigestAlgorithm() {
            return one().getMessageDigestAlgorithm();
        }

        public byte getCipherAlgorithm() {
            return one().getCipherAlgorithm();
        }

        public byte getPaddingAlgorithm() {
            return one().getPaddingAlgorithm();
        }

        public short getLength() throws CryptoException {
            return one().getLength();
        }

        public short sign(
                byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset) throws CryptoException {
            return one().sign(inBuff, inOffset, inLength, sigBuff, sigOffset);
        }

        public short signPreComputedHash(
                byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset)
                throws CryptoException {
            return one().signPreComputedHash(hashBuff, hashOffset, hashLength, sigBuff, sigOffset);
        }

        public boolean verify(
                byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset, short sigLength)
                throws CryptoException {
            return one().verify(inBuff, inOffset, inLength, sigBuff, sigOffset, sigLength);
        }

        public boolean verifyPreComputedHash(
                byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset, short sigLength)
                throws CryptoException {
            return one().verifyPreComputedHash(hashBuff, hashOffset, hashLength, sigBuff, sigOffset, sigLength);
        }
    }
}
