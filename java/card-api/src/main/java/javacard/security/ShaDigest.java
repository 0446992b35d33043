package javacard.security;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/** SHA-1 and SHA-256, whose state is in RAM. */
final class ShaDigest extends InitializedMessageDigest {
    private static final short BLOCK_BYTES = 64;

    private final byte algorithm;
    private final byte[] state;

    ShaDigest(byte algorithm) {
        if (algorithm != ALG_SHA && algorithm != ALG_SHA_256) {
            CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        this.algorithm = algorithm;
        state = JCSystem.makeTransientByteArray(Algorithms.STATE_BYTES, JCSystem.CLEAR_ON_RESET);
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public byte getLength() {
        return algorithm == ALG_SHA ? LENGTH_SHA : LENGTH_SHA_256;
    }

    public void update(byte[] inBuff, short inOffset, short inLength) {
        Algorithms.digestUpdate(algorithm, state, inBuff, inOffset, inLength);
    }

    public short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        update(inBuff, inOffset, inLength);
        return Algorithms.digestFinish(algorithm, state, outBuff, outOffset);
    }

    public void reset() {
        Util.arrayFillNonAtomic(state, (short) 0, Algorithms.STATE_BYTES, (byte) 0);
    }

    public void setInitialDigest(
            byte[] initialDigestBuf,
            short initialDigestOffset,
            short initialDigestLength,
            byte[] digestedMsgLenBuf,
            short digestedMsgLenOffset,
            short digestedMsgLenLength) {
        boolean isNumber = digestedMsgLenLength > 0 && digestedMsgLenLength <= 8;
        if (!isNumber || initialDigestLength != getLength()) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        if (digestedMsgLenBuf[(short) (digestedMsgLenOffset + digestedMsgLenLength - 1)] % BLOCK_BYTES != 0) {
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
