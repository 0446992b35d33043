package javacardx.crypto;

import javacard.framework.JCSystem;
import javacard.framework.Util;
import javacard.security.CryptoException;
import javacard.security.Key;

/** AES with a counter (SP 800-38A): both directions are the same, and any number of bytes. */
final class CtrCipher extends Cipher {
    private static final short BLOCK = 16;
    private static final short STREAM = 16;
    /** Where it says how many bytes of the stream are used; 0 also before there is any. */
    private static final short USED = 32;

    private final BlockCipher cipher = new BlockCipher(ALG_AES_BLOCK_128_ECB_NOPAD);
    private final byte[] state = JCSystem.makeTransientByteArray((short) 33, JCSystem.CLEAR_ON_RESET);

    public void init(Key theKey, byte theMode) {
        if (theMode != MODE_ENCRYPT && theMode != MODE_DECRYPT) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        cipher.init(theKey, MODE_ENCRYPT);
        Util.arrayFillNonAtomic(state, (short) 0, (short) 33, (byte) 0);
    }

    public void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) {
        if (bLen != BLOCK) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        init(theKey, theMode);
        Util.arrayCopyNonAtomic(bArray, bOff, state, (short) 0, BLOCK);
    }

    public byte getAlgorithm() {
        return ALG_AES_CTR;
    }

    public byte getCipherAlgorithm() {
        return CIPHER_AES_ECB;
    }

    public byte getPaddingAlgorithm() {
        return PAD_NOPAD;
    }

    public short update(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        Util.arrayCompare(inBuff, inOffset, inBuff, inOffset, inLength);
        Util.arrayCompare(outBuff, outOffset, outBuff, outOffset, inLength);
        for (short at = 0; at < inLength; at++) {
            if (state[USED] == 0) {
                cipher.doFinal(state, (short) 0, BLOCK, state, STREAM);
                count();
            }
            byte stream = state[(short) (STREAM + state[USED])];
            outBuff[(short) (outOffset + at)] = (byte) (inBuff[(short) (inOffset + at)] ^ stream);
            state[USED] = (byte) ((state[USED] + 1) % BLOCK);
        }
        return inLength;
    }

    public short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        short written = update(inBuff, inOffset, inLength, outBuff, outOffset);
        Util.arrayFillNonAtomic(state, (short) 0, (short) 33, (byte) 0);
        return written;
    }

    /** The next counter. */
    private void count() {
        for (short at = (short) (BLOCK - 1); at >= 0; at--) {
            state[at]++;
            if (state[at] != 0) {
                return;
            }
        }
    }
}
