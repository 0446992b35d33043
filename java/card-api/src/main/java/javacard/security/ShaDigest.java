package javacard.security;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/** SHA-1 and SHA-2, whose state is in RAM. */
final class ShaDigest extends InitializedMessageDigest {
    private final byte algorithm;
    private final byte[] state;

    ShaDigest(byte algorithm) {
        Algorithms.require(algorithm);
        this.algorithm = algorithm;
        state = JCSystem.makeTransientByteArray(
                getBlockLength() == 64 ? Algorithms.STATE_BYTES : Algorithms.WIDE_STATE_BYTES,
                JCSystem.CLEAR_ON_RESET);
    }

    /** Bytes of a block. */
    short getBlockLength() {
        switch (algorithm) {
            case ALG_SHA:
            case ALG_SHA_224:
            case ALG_SHA_256:
                return 64;
            default:
                return 128;
        }
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public byte getLength() {
        switch (algorithm) {
            case ALG_SHA:
                return LENGTH_SHA;
            case ALG_SHA_224:
                return LENGTH_SHA_224;
            case ALG_SHA_256:
                return LENGTH_SHA_256;
            case ALG_SHA_384:
                return LENGTH_SHA_384;
            default:
                return LENGTH_SHA_512;
        }
    }

    public void update(byte[] inBuff, short inOffset, short inLength) {
        Algorithms.digestUpdate(algorithm, state, inBuff, inOffset, inLength);
    }

    public short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        update(inBuff, inOffset, inLength);
        return Algorithms.digestFinish(algorithm, state, outBuff, outOffset);
    }

    public void reset() {
        Util.arrayFillNonAtomic(state, (short) 0, (short) state.length, (byte) 0);
    }

    public void setInitialDigest(
            byte[] initialDigestBuf,
            short initialDigestOffset,
            short initialDigestLength,
            byte[] digestedMsgLenBuf,
            short digestedMsgLenOffset,
            short digestedMsgLenLength) {
        boolean isNumber = digestedMsgLenLength > 0 && digestedMsgLenLength <= 8;
        // SHA-1 has five words; the others have all of the state's.
        short words = algorithm == ALG_SHA ? LENGTH_SHA : (short) (getBlockLength() / 2);
        if (!isNumber || initialDigestLength != words) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        if (digestedMsgLenBuf[(short) (digestedMsgLenOffset + digestedMsgLenLength - 1)] % getBlockLength() != 0) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        reset();
        Util.arrayCopyNonAtomic(
                initialDigestBuf, initialDigestOffset, state, Algorithms.STATE_HASH, initialDigestLength);
        short count = (short) (Algorithms.STATE_HASH - digestedMsgLenLength);
        Util.arrayCopyNonAtomic(digestedMsgLenBuf, digestedMsgLenOffset, state, count, digestedMsgLenLength);
        state[0] = 1;
    }
}
