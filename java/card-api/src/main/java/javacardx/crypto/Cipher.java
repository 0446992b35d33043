package javacardx.crypto;

import javacard.framework.JCSystem;
import javacard.security.CryptoException;
import javacard.security.Key;
import javacard.security.MessageDigest;

/**
 * Ciphers: AES and DES in CBC and ECB, AES with a counter, and RSA. The end of an operation and a reset of the card set
 * the initial vector of CBC to 0.
 */
public abstract class Cipher {
    /** AES in CBC, whatever the length of the key; whole blocks. */
    public static final byte ALG_AES_BLOCK_128_CBC_NOPAD = 13;

    /** AES in ECB; whole blocks. */
    public static final byte ALG_AES_BLOCK_128_ECB_NOPAD = 14;

    /** AES in CBC; data end with 80 and zeros. */
    public static final byte ALG_AES_CBC_ISO9797_M2 = 23;

    /** AES in ECB; data end with 80 and zeros. */
    public static final byte ALG_AES_ECB_ISO9797_M2 = 26;

    /** AES in CBC. */
    public static final byte CIPHER_AES_CBC = 1;

    /** AES in ECB. */
    public static final byte CIPHER_AES_ECB = 2;

    /** No padding, because there is nothing to pad. */
    public static final byte PAD_NULL = 0;

    /** Whole blocks. */
    public static final byte PAD_NOPAD = 1;

    /** Data end with 80 and zeros. */
    public static final byte PAD_ISO9797_M2 = 3;

    /** To decrypt. */
    public static final byte MODE_DECRYPT = 1;

    /** To encrypt. */
    public static final byte MODE_ENCRYPT = 2;

    /** AES-192 in CBC, of whole blocks. */
    public static final byte ALG_AES_BLOCK_192_CBC_NOPAD = 18;

    /** AES-192 in ECB, of whole blocks. */
    public static final byte ALG_AES_BLOCK_192_ECB_NOPAD = 19;

    /** AES-256 in CBC, of whole blocks. */
    public static final byte ALG_AES_BLOCK_256_CBC_NOPAD = 20;

    /** AES-256 in ECB, of whole blocks. */
    public static final byte ALG_AES_BLOCK_256_ECB_NOPAD = 21;

    /** AES in CBC, zeros as padding, which decryption leaves. */
    public static final byte ALG_AES_CBC_ISO9797_M1 = 22;

    /** AES in CBC, padded by PKCS#5. */
    public static final byte ALG_AES_CBC_PKCS5 = 24;

    /** AES in ECB, zeros as padding, which decryption leaves. */
    public static final byte ALG_AES_ECB_ISO9797_M1 = 25;

    /** AES in ECB, padded by PKCS#5. */
    public static final byte ALG_AES_ECB_PKCS5 = 27;

    /** AES with a counter. */
    public static final byte ALG_AES_CTR = -16;

    /** DES in CBC, of whole blocks. */
    public static final byte ALG_DES_CBC_NOPAD = 1;

    /** DES in CBC, zeros as padding, which decryption leaves. */
    public static final byte ALG_DES_CBC_ISO9797_M1 = 2;

    /** DES in CBC, 80 and zeros as padding. */
    public static final byte ALG_DES_CBC_ISO9797_M2 = 3;

    /** DES in CBC, padded by PKCS#5. */
    public static final byte ALG_DES_CBC_PKCS5 = 4;

    /** DES in ECB, of whole blocks. */
    public static final byte ALG_DES_ECB_NOPAD = 5;

    /** DES in ECB, zeros as padding, which decryption leaves. */
    public static final byte ALG_DES_ECB_ISO9797_M1 = 6;

    /** DES in ECB, 80 and zeros as padding. */
    public static final byte ALG_DES_ECB_ISO9797_M2 = 7;

    /** DES in ECB, padded by PKCS#5. */
    public static final byte ALG_DES_ECB_PKCS5 = 8;

    /** DES in CBC. */
    public static final byte CIPHER_DES_CBC = 3;

    /** DES in ECB. */
    public static final byte CIPHER_DES_ECB = 4;

    /** Zeros. */
    public static final byte PAD_ISO9797_M1 = 2;

    /** As many bytes as they say. */
    public static final byte PAD_PKCS5 = 6;

    /** RSA of a number with the bytes of the modulus. */
    public static final byte ALG_RSA_NOPAD = 12;

    /** RSA with the older padding of PKCS#1. */
    public static final byte ALG_RSA_PKCS1 = 10;

    /** RSA with OAEP. */
    public static final byte ALG_RSA_PKCS1_OAEP = 15;

    /** RSA. */
    public static final byte CIPHER_RSA = 7;

    /** The older padding of PKCS#1. */
    public static final byte PAD_PKCS1 = 7;

    /** OAEP with SHA-1. */
    public static final byte PAD_PKCS1_OAEP = 9;

    /** OAEP with SHA-224. */
    public static final byte PAD_PKCS1_OAEP_SHA224 = 13;

    /** OAEP with SHA-256. */
    public static final byte PAD_PKCS1_OAEP_SHA256 = 14;

    /** OAEP with SHA-384. */
    public static final byte PAD_PKCS1_OAEP_SHA384 = 15;

    /** OAEP with SHA-512. */
    public static final byte PAD_PKCS1_OAEP_SHA512 = 16;

    // Names of the specification for what this card does not carry out.
    public static final byte ALG_RSA_ISO14888 = 9;
    public static final byte ALG_RSA_ISO9796 = 11;
    public static final byte ALG_KOREAN_SEED_ECB_NOPAD = 16;
    public static final byte ALG_KOREAN_SEED_CBC_NOPAD = 17;
    public static final byte CIPHER_KOREAN_SEED_CBC = 5;
    public static final byte CIPHER_KOREAN_SEED_ECB = 6;
    public static final byte PAD_ISO9797_1_M1_ALG3 = 4;
    public static final byte PAD_ISO9797_1_M2_ALG3 = 5;
    public static final byte PAD_PKCS1_PSS = 8;
    public static final byte PAD_PKCS1_OAEP_SHA3_224 = 17;
    public static final byte PAD_PKCS1_OAEP_SHA3_256 = 18;
    public static final byte PAD_PKCS1_OAEP_SHA3_384 = 19;
    public static final byte PAD_PKCS1_OAEP_SHA3_512 = 20;
    public static final byte PAD_ISO9796 = 10;
    public static final byte PAD_ISO9796_MR = 11;
    public static final byte PAD_RFC2409 = 12;

    /** For the classes that carry it out. */
    protected Cipher() {
    }

    /**
     * Makes one.
     *
     * @param algorithm an ALG; of those that the card carries out, each has a line of its own above
     * @param externalAccess whether other applets use it
     * @return the object
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public static final Cipher getInstance(byte algorithm, boolean externalAccess) throws CryptoException {
        switch (algorithm) {
            case ALG_AES_CTR:
                return new CtrCipher();
            case ALG_RSA_NOPAD:
                return new RsaCipher(algorithm, PAD_NOPAD, MessageDigest.ALG_NULL);
            case ALG_RSA_PKCS1:
                return new RsaCipher(algorithm, PAD_PKCS1, MessageDigest.ALG_NULL);
            case ALG_RSA_PKCS1_OAEP:
                return new RsaCipher(algorithm, PAD_PKCS1_OAEP, MessageDigest.ALG_SHA);
            default:
                return new BlockCipher(algorithm);
        }
    }

    /**
     * Makes one.
     *
     * @param cipherAlgorithm {@link #CIPHER_AES_CBC}, {@link #CIPHER_AES_ECB}, {@link #CIPHER_DES_CBC},
     *     {@link #CIPHER_DES_ECB} or {@link #CIPHER_RSA}
     * @param paddingAlgorithm {@link #PAD_NOPAD}, {@link #PAD_ISO9797_M1}, {@link #PAD_ISO9797_M2} or
     *     {@link #PAD_PKCS5} for blocks; {@link #PAD_NOPAD}, {@link #PAD_PKCS1} or one of OAEP with SHA-1 or SHA-2
     *     for RSA
     * @param externalAccess whether other applets use it
     * @return the object
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public static final Cipher getInstance(byte cipherAlgorithm, byte paddingAlgorithm, boolean externalAccess)
            throws CryptoException {
        if (cipherAlgorithm != CIPHER_RSA) {
            return new BlockCipher(BlockCipher.algorithm(cipherAlgorithm, paddingAlgorithm));
        }
        switch (paddingAlgorithm) {
            case PAD_NOPAD:
                return new RsaCipher(ALG_RSA_NOPAD, paddingAlgorithm, MessageDigest.ALG_NULL);
            case PAD_PKCS1:
                return new RsaCipher(ALG_RSA_PKCS1, paddingAlgorithm, MessageDigest.ALG_NULL);
            case PAD_PKCS1_OAEP:
                return new RsaCipher(ALG_RSA_PKCS1_OAEP, paddingAlgorithm, MessageDigest.ALG_SHA);
            case PAD_PKCS1_OAEP_SHA224:
                return new RsaCipher(ALG_RSA_PKCS1_OAEP, paddingAlgorithm, MessageDigest.ALG_SHA_224);
            case PAD_PKCS1_OAEP_SHA256:
                return new RsaCipher(ALG_RSA_PKCS1_OAEP, paddingAlgorithm, MessageDigest.ALG_SHA_256);
            case PAD_PKCS1_OAEP_SHA384:
                return new RsaCipher(ALG_RSA_PKCS1_OAEP, paddingAlgorithm, MessageDigest.ALG_SHA_384);
            case PAD_PKCS1_OAEP_SHA512:
                return new RsaCipher(ALG_RSA_PKCS1_OAEP, paddingAlgorithm, MessageDigest.ALG_SHA_512);
            default:
                CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
                return null;
        }
    }

    /**
     * Sets the key, and the initial vector to 0, and begins again.
     *
     * @param theKey the key
     * @param theMode {@link #MODE_ENCRYPT} or {@link #MODE_DECRYPT}
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for a key that does not fit,
     *     {@link CryptoException#UNINITIALIZED_KEY}
     */
    public abstract void init(Key theKey, byte theMode) throws CryptoException;

    /**
     * Sets the key and the initial vector, and begins again.
     *
     * @param theKey the key
     * @param theMode {@link #MODE_ENCRYPT} or {@link #MODE_DECRYPT}
     * @param bArray where the initial vector is
     * @param bOff where it starts
     * @param bLen its bytes, 16; ECB has none
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for a key or a vector that does not fit,
     *     {@link CryptoException#UNINITIALIZED_KEY}
     */
    public abstract void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) throws CryptoException;

    /**
     * Returns the algorithm.
     *
     * @return an ALG
     */
    public abstract byte getAlgorithm();

    /**
     * Returns the cipher without its padding.
     *
     * @return a CIPHER
     */
    public abstract byte getCipherAlgorithm();

    /**
     * Returns the padding.
     *
     * @return a PAD
     */
    public abstract byte getPaddingAlgorithm();

    /**
     * Takes the last data, writes what is left, and begins again with an initial vector of 0.
     *
     * @param inBuff where the data are
     * @param inOffset where they start
     * @param inLength how many they are
     * @param outBuff where the result comes; in the same array it may start where the data do
     * @param outOffset where it starts there
     * @return how many bytes were written
     * @throws CryptoException {@link CryptoException#ILLEGAL_USE} for data that are no whole blocks, or wrongly
     *     padded, {@link CryptoException#INVALID_INIT} without a key, {@link CryptoException#UNINITIALIZED_KEY}
     */
    public abstract short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset)
            throws CryptoException;

    /**
     * Takes data, and writes what is whole.
     *
     * @param inBuff where the data are
     * @param inOffset where they start
     * @param inLength how many they are
     * @param outBuff where the result comes; not the same range
     * @param outOffset where it starts there
     * @return how many bytes were written
     */
    public abstract short update(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset)
            throws CryptoException;

    /** One for a single use, without {@code update}. After {@link #close} it throws ILLEGAL_USE. */
    public static final class OneShot extends Cipher {
        private Cipher one;

        private OneShot() {
        }

        /**
         * Makes one: two objects on flash and the RAM that {@link Cipher#getInstance} takes.
         *
         * @param cipherAlgorithm a CIPHER
         * @param paddingAlgorithm a PAD
         * @return the object
         * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
         */
        public static final OneShot open(byte cipherAlgorithm, byte paddingAlgorithm) throws CryptoException {
            OneShot made = new OneShot();
            made.one = getInstance(cipherAlgorithm, paddingAlgorithm, false);
            return made;
        }

        /** Has it deleted after this command, with what it keeps; once more, this does nothing. */
        public void close() {
            if (one != null) {
                one = null;
                JCSystem.requestObjectDeletion();
            }
        }

        private Cipher one() {
            if (one == null) {
                CryptoException.throwIt(CryptoException.ILLEGAL_USE);
            }
            return one;
        }

        public short update(
                byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) throws CryptoException {
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
            return 0;
        }

        public void init(Key theKey, byte theMode) throws CryptoException {
            one().init(theKey, theMode);
        }

        public void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) throws CryptoException {
            one().init(theKey, theMode, bArray, bOff, bLen);
        }

        public byte getAlgorithm() {
            return one().getAlgorithm();
        }

        public byte getCipherAlgorithm() {
            return one().getCipherAlgorithm();
        }

        public byte getPaddingAlgorithm() {
            return one().getPaddingAlgorithm();
        }

        public short doFinal(
                byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) throws CryptoException {
            return one().doFinal(inBuff, inOffset, inLength, outBuff, outOffset);
        }
    }
}
