package javacardx.crypto;

import javacard.framework.JCSystem;
import javacard.framework.Util;
import javacard.security.AESKey;
import javacard.security.CryptoException;
import javacard.security.Key;

/**
 * AES in CBC and ECB. Key and mode are on flash, since they outlive a reset; in RAM are the block before, the bytes
 * that wait for their block to be whole, how many they are, and, during a call, the key's.
 */
final class AesCipher extends Cipher {
    private static final short BLOCK = 16;
    private static final short WAITING = 16;
    private static final short COUNT = 32;
    private static final short KEY = 33;
    private static final short STATE_BYTES = 65;
    private static final byte NONE = 0;
    private static final byte PADDING = (byte) 0x80;

    private final byte algorithm;
    private final boolean isChained;
    private final boolean isPadded;
    private final byte[] state;
    private AESKey key;
    private byte mode;

    AesCipher(byte algorithm) {
        switch (algorithm) {
            case ALG_AES_BLOCK_128_CBC_NOPAD:
            case ALG_AES_BLOCK_128_ECB_NOPAD:
            case ALG_AES_CBC_ISO9797_M2:
            case ALG_AES_ECB_ISO9797_M2:
                break;
            default:
                CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        this.algorithm = algorithm;
        isChained = algorithm == ALG_AES_BLOCK_128_CBC_NOPAD || algorithm == ALG_AES_CBC_ISO9797_M2;
        isPadded = algorithm == ALG_AES_CBC_ISO9797_M2 || algorithm == ALG_AES_ECB_ISO9797_M2;
        state = JCSystem.makeTransientByteArray(STATE_BYTES, JCSystem.CLEAR_ON_RESET);
    }

    /** The algorithm of a cipher and a padding; 0, which is none, for others. */
    static byte algorithm(byte cipher, byte padding) {
        if (padding != PAD_NOPAD && padding != PAD_ISO9797_M2) {
            return NONE;
        }
        switch (cipher) {
            case CIPHER_AES_CBC:
                return padding == PAD_NOPAD ? ALG_AES_BLOCK_128_CBC_NOPAD : ALG_AES_CBC_ISO9797_M2;
            case CIPHER_AES_ECB:
                return padding == PAD_NOPAD ? ALG_AES_BLOCK_128_ECB_NOPAD : ALG_AES_ECB_ISO9797_M2;
            default:
                return NONE;
        }
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public byte getCipherAlgorithm() {
        return isChained ? CIPHER_AES_CBC : CIPHER_AES_ECB;
    }

    public byte getPaddingAlgorithm() {
        return isPadded ? PAD_ISO9797_M2 : PAD_NOPAD;
    }

    public void init(Key theKey, byte theMode) {
        if (!(theKey instanceof AESKey) || theMode != MODE_ENCRYPT && theMode != MODE_DECRYPT) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        if (!theKey.isInitialized()) {
            CryptoException.throwIt(CryptoException.UNINITIALIZED_KEY);
        }
        if (key != theKey) {
            key = (AESKey) theKey;
        }
        if (mode != theMode) {
            mode = theMode;
        }
        restart();
    }

    public void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) {
        if (!isChained || bLen != BLOCK) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        init(theKey, theMode);
        Util.arrayCopyNonAtomic(bArray, bOff, state, (short) 0, BLOCK);
    }

    public short update(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        check();
        Util.arrayCompare(inBuff, inOffset, inBuff, inOffset, inLength);
        return take(inBuff, inOffset, inLength, outBuff, outOffset);
    }

    public short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        check();
        Util.arrayCompare(inBuff, inOffset, inBuff, inOffset, inLength);
        int total = state[COUNT] + inLength;
        boolean isWhole = total % BLOCK == 0 && (total != 0 || !isPadded);
        boolean addsPadding = isPadded && mode == MODE_ENCRYPT;
        if (!isWhole && !addsPadding) {
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }
        short written = take(inBuff, inOffset, inLength, outBuff, outOffset);
        if (isPadded) {
            short end = (short) (outOffset + written);
            written += addsPadding ? pad(outBuff, end) : unpad(outBuff, end);
        }
        restart();
        return written;
    }

    /** Carries out what is whole. The last block that is to be unpadded waits, since more may come. */
    private short take(byte[] in, short inOffset, short length, byte[] out, short outOffset) {
        short waiting = state[COUNT];
        int total = waiting + length;
        int ready = total - total % BLOCK;
        boolean keepsLast = isPadded && mode == MODE_DECRYPT;
        if (keepsLast && ready != 0 && ready == total) {
            ready -= BLOCK;
        }
        short written = (short) ready;
        if (ready != 0 && waiting != 0) {
            short missing = (short) (BLOCK - waiting);
            Util.arrayCopyNonAtomic(in, inOffset, state, (short) (WAITING + waiting), missing);
            blocks(state, WAITING, BLOCK, out, outOffset);
            inOffset += missing;
            length -= missing;
            outOffset += BLOCK;
            ready -= BLOCK;
            waiting = 0;
        }
        if (ready != 0) {
            blocks(in, inOffset, (short) ready, out, outOffset);
        }
        short left = (short) (length - ready);
        Util.arrayCopyNonAtomic(in, (short) (inOffset + ready), state, (short) (WAITING + waiting), left);
        state[COUNT] = (byte) (waiting + left);
        return written;
    }

    private short pad(byte[] out, short outOffset) {
        short count = state[COUNT];
        short zeros = (short) (BLOCK - 1 - count);
        state[(short) (WAITING + count)] = PADDING;
        Util.arrayFillNonAtomic(state, (short) (WAITING + count + 1), zeros, (byte) 0);
        blocks(state, WAITING, BLOCK, out, outOffset);
        return BLOCK;
    }

    private short unpad(byte[] out, short outOffset) {
        blocks(state, WAITING, BLOCK, state, WAITING);
        short last = WAITING + BLOCK - 1;
        while (last >= WAITING && state[last] == 0) {
            last--;
        }
        if (last < WAITING || state[last] != PADDING) {
            restart();
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }
        short count = (short) (last - WAITING);
        Util.arrayCopy(state, WAITING, out, outOffset, count);
        return count;
    }

    private void blocks(byte[] in, short inOffset, short length, byte[] out, short outOffset) {
        byte bytes = key.getKey(state, KEY);
        blocks(mode, state, bytes, isChained, in, inOffset, length, out, outOffset);
        Util.arrayFillNonAtomic(state, KEY, bytes, (byte) 0);
    }

    /**
     * Encrypts or decrypts whole blocks; the mode is a MODE. The state begins with the block before, which becomes the
     * last one's cipher text where blocks are chained; the key, 16 or 32 bytes, is in it from the 34th on. The result
     * may be in the same range.
     */
    private static native void blocks(
            byte mode,
            byte[] state,
            byte keyBytes,
            boolean isChained,
            byte[] in,
            short inOffset,
            short length,
            byte[] out,
            short outOffset);

    private void check() {
        if (mode == 0) {
            CryptoException.throwIt(CryptoException.INVALID_INIT);
        }
        if (!key.isInitialized()) {
            CryptoException.throwIt(CryptoException.UNINITIALIZED_KEY);
        }
    }

    private void restart() {
        Util.arrayFillNonAtomic(state, (short) 0, STATE_BYTES, (byte) 0);
    }
}
