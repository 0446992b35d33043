package javacard.security;

import javacard.framework.JCSystem;

/** Random bytes. All that this card has are the runtime's, which are fit for keys. */
public abstract class RandomData {
    /** Bytes that need not be secret. */
    public static final byte ALG_PSEUDO_RANDOM = 1;

    /** Bytes for keys. */
    public static final byte ALG_SECURE_RANDOM = 2;

    /** Bytes that come fast. */
    public static final byte ALG_FAST = 5;

    /** Bytes for keys, from 3.0.5 on. */
    public static final byte ALG_KEYGENERATION = 6;

    // Names of the specification for what this card does not carry out: where the runtime's bytes come from is not
    // known here, and a seed of the factory's is none of this card's.
    public static final byte ALG_TRNG = 3;
    public static final byte ALG_PRESEEDED_DRBG = 4;

    /** For the classes that carry it out. */
    protected RandomData() {
    }

    /**
     * Makes one.
     *
     * @param algorithm {@link #ALG_PSEUDO_RANDOM}, {@link #ALG_SECURE_RANDOM}, {@link #ALG_FAST} or
     *     {@link #ALG_KEYGENERATION}
     * @return the object
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public static final RandomData getInstance(byte algorithm) throws CryptoException {
        return new CardRandom(algorithm);
    }

    /**
     * Fills a range.
     *
     * @param buffer the array
     * @param offset where the range starts
     * @param length its bytes, at least 1
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for none
     */
    public abstract void generateData(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Fills a range.
     *
     * @param buffer the array
     * @param offset where the range starts
     * @param length its bytes, at least 1
     * @return the element after it
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for none
     */
    public abstract short nextBytes(byte[] buffer, short offset, short length) throws CryptoException;

    /**
     * Takes a seed, which changes nothing: the runtime's bytes need none.
     *
     * @param buffer where it is
     * @param offset where it starts
     * @param length its bytes
     */
    public abstract void setSeed(byte[] buffer, short offset, short length);

    /**
     * Returns the algorithm.
     *
     * @return what {@link #getInstance} was given
     */
    public abstract byte getAlgorithm();

    /** One for a single use. After {@link #close} it throws ILLEGAL_USE. */
    public static final class OneShot extends RandomData {
        private RandomData one;

        private OneShot() {
        }

        /**
         * Makes one: two objects on flash and the RAM that {@link RandomData#getInstance} takes.
         *
         * @param algorithm the algorithm
         * @return the object
         * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
         */
        public static final OneShot open(byte algorithm) throws CryptoException {
            OneShot made = new OneShot();
            made.one = getInstance(algorithm);
            return made;
        }

        /** Has it deleted after this command, with what it keeps; once more, this does nothing. */
        public void close() {
            if (one != null) {
                one = null;
                JCSystem.requestObjectDeletion();
            }
        }

        private RandomData one() {
            if (one == null) {
                CryptoException.throwIt(CryptoException.ILLEGAL_USE);
            }
            return one;
        }

        public byte getAlgorithm() {
            return one().getAlgorithm();
        }

        public void generateData(byte[] buffer, short offset, short length) throws CryptoException {
            one().generateData(buffer, offset, length);
        }

        public short nextBytes(byte[] buffer, short offset, short length) throws CryptoException {
            return one().nextBytes(buffer, offset, length);
        }

        public void setSeed(byte[] buffer, short offset, short length) {
            one().setSeed(buffer, offset, length);
        }
    }
}
