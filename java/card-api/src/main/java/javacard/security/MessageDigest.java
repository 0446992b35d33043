package javacard.security;

import javacard.framework.JCSystem;

/** A hash of data that come in pieces, of the family of SHA-1 and SHA-2; a reset of the card forgets what came. */
public abstract class MessageDigest {
    /** No hash. */
    public static final byte ALG_NULL = 0;

    /** SHA-1: for formats that ask for it. */
    public static final byte ALG_SHA = 1;

    /** SHA-256. */
    public static final byte ALG_SHA_256 = 4;

    /** Bytes of a SHA-1. */
    public static final byte LENGTH_SHA = 20;

    /** Bytes of a SHA-256. */
    public static final byte LENGTH_SHA_256 = 32;

    /** SHA-224. */
    public static final byte ALG_SHA_224 = 7;

    /** SHA-384. */
    public static final byte ALG_SHA_384 = 5;

    /** SHA-512. */
    public static final byte ALG_SHA_512 = 6;

    /** Bytes of a SHA-224. */
    public static final byte LENGTH_SHA_224 = 28;

    /** Bytes of a SHA-384. */
    public static final byte LENGTH_SHA_384 = 48;

    /** Bytes of a SHA-512. */
    public static final byte LENGTH_SHA_512 = 64;

    // Names of the specification for what this card does not carry out.
    public static final byte ALG_MD5 = 2;
    public static final byte ALG_RIPEMD160 = 3;
    public static final byte ALG_SHA3_224 = 8;
    public static final byte ALG_SHA3_256 = 9;
    public static final byte ALG_SHA3_384 = 10;
    public static final byte ALG_SHA3_512 = 11;
    public static final byte LENGTH_MD5 = 16;
    public static final byte LENGTH_RIPEMD160 = 20;
    public static final byte LENGTH_SHA3_224 = 28;
    public static final byte LENGTH_SHA3_256 = 32;
    public static final byte LENGTH_SHA3_384 = 48;
    public static final byte LENGTH_SHA3_512 = 64;

    /** For the classes that carry it out. */
    protected MessageDigest() {
    }

    /**
     * Makes one.
     *
     * @param algorithm {@link #ALG_SHA}, {@link #ALG_SHA_224}, {@link #ALG_SHA_256}, {@link #ALG_SHA_384} or
     *     {@link #ALG_SHA_512}
     * @param externalAccess whether other applets use it
     * @return the object
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public static final MessageDigest getInstance(byte algorithm, boolean externalAccess) throws CryptoException {
        return new ShaDigest(algorithm);
    }

    /**
     * Makes one that can go on from another's intermediate hash.
     *
     * @param algorithm {@link #ALG_SHA}, {@link #ALG_SHA_224}, {@link #ALG_SHA_256}, {@link #ALG_SHA_384} or
     *     {@link #ALG_SHA_512}
     * @param externalAccess whether other applets use it
     * @return the object
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public static final InitializedMessageDigest getInitializedMessageDigestInstance(
            byte algorithm, boolean externalAccess) throws CryptoException {
        return new ShaDigest(algorithm);
    }

    /**
     * Returns the algorithm.
     *
     * @return what {@link #getInstance} was given
     */
    public abstract byte getAlgorithm();

    /**
     * Returns the length of the hash.
     *
     * @return bytes
     */
    public abstract byte getLength();

    /**
     * Takes the last data, writes the hash and begins again.
     *
     * @param inBuff where the data are
     * @param inOffset where they start
     * @param inLength how many they are
     * @param outBuff where the hash comes; it may be the same array
     * @param outOffset where it starts there
     * @return its bytes
     */
    public abstract short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset)
            throws CryptoException;

    /**
     * Takes data.
     *
     * @param inBuff where they are
     * @param inOffset where they start
     * @param inLength how many they are
     */
    public abstract void update(byte[] inBuff, short inOffset, short inLength) throws CryptoException;

    /** Begins again. */
    public abstract void reset();

    /** One for a single use, without {@code update}. After {@link #close} it throws ILLEGAL_USE. */
    public static final class OneShot extends MessageDigest {
        private MessageDigest one;

        private OneShot() {
        }

        /**
         * Makes one: two objects on flash and the RAM that {@link MessageDigest#getInstance} takes.
         *
         * @param algorithm the algorithm
         * @return the object
         * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
         */
        public static final OneShot open(byte algorithm) throws CryptoException {
            OneShot made = new OneShot();
            made.one = getInstance(algorithm, false);
            return made;
        }

        /** Has it deleted after this command, with what it keeps; once more, this does nothing. */
        public void close() {
            if (one != null) {
                one = null;
                JCSystem.requestObjectDeletion();
            }
        }

        private MessageDigest one() {
            if (one == null) {
                CryptoException.throwIt(CryptoException.ILLEGAL_USE);
            }
            return one;
        }

        public byte getAlgorithm() {
            return one().getAlgorithm();
        }

        public byte getLength() {
            return one().getLength();
        }

        public short doFinal(
                byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) throws CryptoException {
            return one().doFinal(inBuff, inOffset, inLength, outBuff, outOffset);
        }

        public void update(byte[] inBuff, short inOffset, short inLength) throws CryptoException {
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }

        public void reset() {
            one().reset();
        }
    }
}
