package javacardx.crypto;

import javacard.framework.JCSystem;
import javacard.framework.Util;
import javacard.security.AESKey;
import javacard.security.CryptoException;
import javacard.security.DESKey;
import javacard.security.Key;
import javacard.security.SecretKey;

/**
 * AES and DES in CBC and ECB. Key and mode are on flash, since they outlive a reset; in RAM are the block before, the
 * bytes that wait for their block to be whole, how many they are, and, during a call, the key's.
 */
final class BlockCipher extends Cipher {
    private static final short BLOCK_MAX = 16;
    private static final short WAITING = 16;
    private static final short COUNT = 32;
    private static final short KEY = 33;
    private static final short STATE_BYTES = 65;
    /** No algorithm has this number. */
    static final byte NONE = 0;
    /** Added to the mode. */
    private static final byte WITH_DES = 0x10;
    /** What {@link #require} names. */
    private static final short AES = 0x100;
    private static final short DES = 0x101;
    private static final byte PADDING = (byte) 0x80;

    private static final byte AES_KEY_192 = 24;
    private static final byte AES_KEY_256 = 32;

    private final byte algorithm;
    private final boolean isDes;
    private final boolean isChained;
    private final byte padding;
    private final byte[] state;
    private SecretKey key;
    private byte mode;

    BlockCipher(byte algorithm) {
        byte pads = PAD_NOPAD;
        boolean chains = false;
        boolean des = false;
        switch (algorithm) {
            case ALG_AES_BLOCK_128_CBC_NOPAD:
            case ALG_AES_BLOCK_192_CBC_NOPAD:
            case ALG_AES_BLOCK_256_CBC_NOPAD:
                chains = true;
                break;
            case ALG_AES_BLOCK_128_ECB_NOPAD:
            case ALG_AES_BLOCK_192_ECB_NOPAD:
            case ALG_AES_BLOCK_256_ECB_NOPAD:
                break;
            case ALG_AES_CBC_ISO9797_M1:
            case ALG_AES_CBC_ISO9797_M2:
            case ALG_AES_CBC_PKCS5:
                chains = true;
                pads = after(algorithm, ALG_AES_CBC_ISO9797_M1);
                break;
            case ALG_AES_ECB_ISO9797_M1:
            case ALG_AES_ECB_ISO9797_M2:
            case ALG_AES_ECB_PKCS5:
                pads = after(algorithm, ALG_AES_ECB_ISO9797_M1);
                break;
            case ALG_DES_CBC_NOPAD:
                chains = true;
                des = true;
                break;
            case ALG_DES_ECB_NOPAD:
                des = true;
                break;
            case ALG_DES_CBC_ISO9797_M1:
            case ALG_DES_CBC_ISO9797_M2:
            case ALG_DES_CBC_PKCS5:
                chains = true;
                des = true;
                pads = after(algorithm, ALG_DES_CBC_ISO9797_M1);
                break;
            case ALG_DES_ECB_ISO9797_M1:
            case ALG_DES_ECB_ISO9797_M2:
            case ALG_DES_ECB_PKCS5:
                des = true;
                pads = after(algorithm, ALG_DES_ECB_ISO9797_M1);
                break;
            default:
                CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        require(des ? DES : AES);
        this.algorithm = algorithm;
        isDes = des;
        isChained = chains;
        padding = pads;
        state = JCSystem.makeTransientByteArray(STATE_BYTES, JCSystem.CLEAR_ON_RESET);
    }

    /** The padding of an algorithm, where those of methods 1 and 2 and of PKCS#5 follow each other. */
    private static byte after(byte algorithm, byte first) {
        switch (algorithm - first) {
            case 0:
                return PAD_ISO9797_M1;
            case 1:
                return PAD_ISO9797_M2;
            default:
                return PAD_PKCS5;
        }
    }

    /** The algorithm of a cipher and a padding; {@link #NONE} for one that is not there. */
    static byte algorithm(byte cipher, byte padding) {
        byte place;
        switch (padding) {
            case PAD_NOPAD:
                place = 0;
                break;
            case PAD_ISO9797_M1:
                place = 1;
                break;
            case PAD_ISO9797_M2:
                place = 2;
                break;
            case PAD_PKCS5:
                place = 3;
                break;
            default:
                return NONE;
        }
        switch (cipher) {
            case CIPHER_AES_CBC:
                return place == 0 ? ALG_AES_BLOCK_128_CBC_NOPAD : (byte) (ALG_AES_CBC_ISO9797_M1 + place - 1);
            case CIPHER_AES_ECB:
                return place == 0 ? ALG_AES_BLOCK_128_ECB_NOPAD : (byte) (ALG_AES_ECB_ISO9797_M1 + place - 1);
            case CIPHER_DES_CBC:
                return (byte) (ALG_DES_CBC_NOPAD + place);
            case CIPHER_DES_ECB:
                return (byte) (ALG_DES_ECB_NOPAD + place);
            default:
                return NONE;
        }
    }

    private short block() {
        return isDes ? (short) 8 : BLOCK_MAX;
    }

    /** Whether decryption takes a padding away: zeros are left. */
    private boolean isUnpadded() {
        return padding == PAD_ISO9797_M2 || padding == PAD_PKCS5;
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public byte getCipherAlgorithm() {
        if (isDes) {
            return isChained ? CIPHER_DES_CBC : CIPHER_DES_ECB;
        }
        return isChained ? CIPHER_AES_CBC : CIPHER_AES_ECB;
    }

    public byte getPaddingAlgorithm() {
        return padding;
    }

    /** Whether a key is one for the algorithm. */
    private boolean fits(Key theKey) {
        if (isDes) {
            return theKey instanceof DESKey;
        }
        switch (algorithm) {
            case ALG_AES_BLOCK_192_CBC_NOPAD:
            case ALG_AES_BLOCK_192_ECB_NOPAD:
                return theKey instanceof AESKey && theKey.getSize() == 8 * AES_KEY_192;
            case ALG_AES_BLOCK_256_CBC_NOPAD:
            case ALG_AES_BLOCK_256_ECB_NOPAD:
                return theKey instanceof AESKey && theKey.getSize() == 8 * AES_KEY_256;
            default:
                return theKey instanceof AESKey;
        }
    }

    public void init(Key theKey, byte theMode) {
        if (!fits(theKey) || theMode != MODE_ENCRYPT && theMode != MODE_DECRYPT) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        if (!theKey.isInitialized()) {
            CryptoException.throwIt(CryptoException.UNINITIALIZED_KEY);
        }
        // A cut of the power leaves no key with another's mode.
        boolean isOwn = key != theKey && mode != theMode && JCSystem.getTransactionDepth() == 0;
        if (isOwn) {
            JCSystem.beginTransaction();
        }
        if (key != theKey) {
            key = (SecretKey) theKey;
        }
        if (mode != theMode) {
            mode = theMode;
        }
        if (isOwn) {
            JCSystem.commitTransaction();
        }
        restart();
    }

    public void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) {
        if (!isChained || bLen != block()) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        init(theKey, theMode);
        Util.arrayCopyNonAtomic(bArray, bOff, state, (short) 0, block());
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
        boolean addsPadding = padding != PAD_NOPAD && mode == MODE_ENCRYPT;
        boolean takesPadding = isUnpadded() && mode == MODE_DECRYPT;
        boolean isWhole = total % block() == 0 && (total != 0 || !takesPadding);
        if (!isWhole && !addsPadding) {
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }
        short written = take(inBuff, inOffset, inLength, outBuff, outOffset);
        short end = (short) (outOffset + written);
        if (addsPadding) {
            written += pad(outBuff, end);
        } else if (takesPadding) {
            written += unpad(outBuff, end);
        }
        restart();
        return written;
    }

    /** Writes the blocks that are whole, and keeps the rest; the last one too, where a padding may be in it. */
    private short take(byte[] in, short inOffset, short length, byte[] out, short outOffset) {
        short block = block();
        short waiting = state[COUNT];
        int total = waiting + length;
        int ready = total - total % block;
        if (isUnpadded() && mode == MODE_DECRYPT && ready != 0 && ready == total) {
            ready -= block;
        }
        short written = (short) ready;
        if (ready != 0 && waiting != 0) {
            short missing = (short) (block - waiting);
            Util.arrayCopyNonAtomic(in, inOffset, state, (short) (WAITING + waiting), missing);
            blocks(state, WAITING, block, out, outOffset);
            inOffset += missing;
            length -= missing;
            outOffset += block;
            ready -= block;
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

    /** Pads what waits, and returns how much that writes. */
    private short pad(byte[] out, short outOffset) {
        short count = state[COUNT];
        short missing = (short) (block() - count);
        byte first = 0;
        byte rest = 0;
        switch (padding) {
            case PAD_ISO9797_M1:
                if (count == 0) {
                    return 0;
                }
                break;
            case PAD_ISO9797_M2:
                first = PADDING;
                break;
            default:
                first = (byte) missing;
                rest = first;
        }
        state[(short) (WAITING + count)] = first;
        Util.arrayFillNonAtomic(state, (short) (WAITING + count + 1), (short) (missing - 1), rest);
        blocks(state, WAITING, block(), out, outOffset);
        return block();
    }

    /** Takes the padding from the block that waits, and returns how much is left of it. */
    private short unpad(byte[] out, short outOffset) {
        short block = block();
        blocks(state, WAITING, block, state, WAITING);
        short count = padding == PAD_PKCS5 ? countOfPkcs5() : countOfMethod2();
        if (count < 0) {
            restart();
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }
        Util.arrayCopy(state, WAITING, out, outOffset, count);
        return count;
    }

    /** How much is before 80 and zeros; negative where they are not there. Each byte takes the same time. */
    private short countOfMethod2() {
        int found = 0;
        int place = 0;
        int value = 0;
        for (short at = (short) (block() - 1); at >= 0; at--) {
            int data = state[(short) (WAITING + at)] & 0xFF;
            // All ones for the last byte that is not 0.
            int isLast = ~(data - 1 >> 31) & ~found;
            place |= isLast & at;
            value |= isLast & data;
            found |= isLast;
        }
        return value == (PADDING & 0xFF) ? (short) place : -1;
    }

    /** How much is before as many bytes as they say; negative where they are not there. As there. */
    private short countOfPkcs5() {
        short block = block();
        int added = state[(short) (WAITING + block - 1)] & 0xFF;
        int wrong = added - 1 >> 31 | block - added >> 31;
        for (short at = 0; at < block; at++) {
            // All ones for what is added.
            int isAdded = block - 1 - at - added >> 31;
            wrong |= isAdded & (state[(short) (WAITING + at)] & 0xFF ^ added);
        }
        return wrong == 0 ? (short) (block - added) : -1;
    }

    private void blocks(byte[] in, short inOffset, short length, byte[] out, short outOffset) {
        byte bytes = isDes ? ((DESKey) key).getKey(state, KEY) : ((AESKey) key).getKey(state, KEY);
        byte by = isDes ? (byte) (mode | WITH_DES) : mode;
        blocks(by, state, bytes, isChained, in, inOffset, length, out, outOffset);
        Util.arrayFillNonAtomic(state, KEY, bytes, (byte) 0);
    }

    /**
     * Encrypts or decrypts whole blocks; the mode is a MODE. The state begins with the block before, which becomes the
     * last one's cipher text where blocks are chained; the key is in it from the 34th on. The result
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

    /** Throws NO_SUCH_ALGORITHM where the card does not have a block cipher. */
    private static native void require(short what);

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
