package javacard.security;

import javacard.framework.JCSystem;

/** A hash that can go on from the intermediate hash of data that were hashed elsewhere. */
public abstract class InitializedMessageDigest extends MessageDigest {
    /** For the classes that carry it out. */
    protected InitializedMessageDigest() {
    }

    /**
     * Begins again, after data that were hashed elsewhere.
     *
     * @param initialDigestBuf where their intermediate hash is
     * @param initialDigestOffset where it starts
     * @param initialDigestLength its bytes: 20 for SHA-1, 32 for SHA-224 and SHA-256, 64 for SHA-384 and SHA-512
     * @param digestedMsgLenBuf where the number of their bytes is, the most significant first
     * @param digestedMsgLenOffset where it starts
     * @param digestedMsgLenLength bytes of that number, 1 to 8; it is a multiple of the
     *     hash's block, 64 or 128
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for another hash or number
     */
    public abstract void setInitialDigest(
            byte[] initialDigestBuf,
            short initialDigestOffset,
            short initialDigestLength,
            byte[] digestedMsgLenBuf,
            short digestedMsgLenOffset,
            short digestedMsgLenLength)
            throws CryptoException;

    /** One for a single use, without {@code update}. After {@link #close} it throws ILLEGAL_USE. */
    public static final class OneShot extends InitializedMessageDigest {
        private InitializedMessageDigest one;

        private OneShot() {
        }

        /**
         * Makes one: two objects on flash and the RAM that
         * {@link MessageDigest#getInitializedMessageDigestInstance} takes.
         *
         * @param algorithm the algorithm
         * @return the object
         * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
         */
        public static final OneShot open(byte algorithm) throws CryptoException {
            OneShot made = new OneShot();
            made.one = getInitializedMessageDigestInstance(algorithm, false);
            return made;
        }

        /** Has it deleted after this command, with what it keeps; once more, this does nothing. */
        public void close() {
            if (one != null) {
                one = null;
                JCSystem.requestObjectDeletion();
            }
        }

        private InitializedMessageDigest one() {
            if (one == null) {
                CryptoException.throwIt(CryptoException.ILLEGAL_USE);
            }
            return one;
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
