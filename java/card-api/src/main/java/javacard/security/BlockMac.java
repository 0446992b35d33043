package javacard.security;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/**
 * Codes of a block cipher: CBC-MAC of DES and AES (ISO 9797-1, algorithm 1), the retail MAC of DES (algorithm 3), and
 * CMAC of AES (SP 800-38B). What came and the key in use are in RAM; a reset begins again with an initial vector of 0.
 */
final class BlockMac extends Signature {
    private static final byte ENCRYPT = 2;
    private static final byte DECRYPT = 1;
    private static final short WAITING = 16;
    private static final short COUNT = 32;
    private static final short KEY = 33;
    private static final short SUBKEY = 65;
    private static final short STATE_BYTES = 81;
    private static final short DES_KEY = 8;
    private static final byte PADDING = (byte) 0x80;
    /** What CMAC's subkeys are reduced by. */
    private static final byte POLYNOMIAL = (byte) 0x87;

    private final byte algorithm;
    private final byte padding;
    private final boolean isDes;
    private final short bytes;
    private final byte[] state;
    private StoredKey key;
    private byte mode;

    BlockMac(byte algorithm) {
        byte pads = EcdsaSignature.PAD_NULL;
        switch (algorithm) {
            case ALG_AES_MAC_128_NOPAD:
            case ALG_DES_MAC4_NOPAD:
            case ALG_DES_MAC8_NOPAD:
                pads = SignatureNames.PAD_NOPAD;
                break;
            case ALG_AES_CMAC_128:
                break;
            case ALG_DES_MAC4_ISO9797_M1:
            case ALG_DES_MAC8_ISO9797_M1:
                pads = SignatureNames.PAD_ISO9797_M1;
                break;
            case ALG_DES_MAC4_ISO9797_M2:
            case ALG_DES_MAC8_ISO9797_M2:
                pads = SignatureNames.PAD_ISO9797_M2;
                break;
            case ALG_DES_MAC4_PKCS5:
            case ALG_DES_MAC8_PKCS5:
                pads = SignatureNames.PAD_PKCS5;
                break;
            case ALG_DES_MAC4_ISO9797_1_M1_ALG3:
            case ALG_DES_MAC8_ISO9797_1_M1_ALG3:
                pads = SignatureNames.PAD_ISO9797_1_M1_ALG3;
                break;
            case ALG_DES_MAC4_ISO9797_1_M2_ALG3:
            case ALG_DES_MAC8_ISO9797_1_M2_ALG3:
                pads = SignatureNames.PAD_ISO9797_1_M2_ALG3;
                break;
            default:
                CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        this.algorithm = algorithm;
        padding = pads;
        isDes = algorithm != ALG_AES_MAC_128_NOPAD && algorithm != ALG_AES_CMAC_128;
        Algorithms.require(isDes ? Algorithms.DES : Algorithms.AES);
        boolean isShort = algorithm == ALG_DES_MAC4_NOPAD
                || algorithm == ALG_DES_MAC4_ISO9797_M1
                || algorithm == ALG_DES_MAC4_ISO9797_M2
                || algorithm == ALG_DES_MAC4_PKCS5
                || algorithm == ALG_DES_MAC4_ISO9797_1_M1_ALG3
                || algorithm == ALG_DES_MAC4_ISO9797_1_M2_ALG3;
        bytes = isShort ? 4 : block();
        state = JCSystem.makeTransientByteArray(STATE_BYTES, JCSystem.CLEAR_ON_RESET);
    }

    private short block() {
        return isDes ? (short) 8 : (short) 16;
    }

    private boolean isRetail() {
        return padding == SignatureNames.PAD_ISO9797_1_M1_ALG3 || padding == SignatureNames.PAD_ISO9797_1_M2_ALG3;
    }

    public void init(Key theKey, byte theMode) {
        boolean fits = isDes ? theKey instanceof StoredDesKey : theKey instanceof StoredAesKey;
        if (!fits || theMode != MODE_SIGN && theMode != MODE_VERIFY) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        StoredKey given = (StoredKey) theKey;
        given.require(StoredKey.VALUE);
        if (isRetail() && given.bytes() == DES_KEY) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        boolean isOwn = key != given && mode != theMode && StoredKey.begin();
        if (key != given) {
            key = given;
        }
        if (mode != theMode) {
            mode = theMode;
        }
        StoredKey.commit(isOwn);
        restart();
    }

    public void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) {
        if (bLen != block() || algorithm == ALG_AES_CMAC_128) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        init(theKey, theMode);
        Util.arrayCopyNonAtomic(bArray, bOff, state, (short) 0, bLen);
    }

    public void setInitialDigest(
            byte[] initialDigestBuf,
            short initialDigestOffset,
            short initialDigestLength,
            byte[] digestedMsgLenBuf,
            short digestedMsgLenOffset,
            short digestedMsgLenLength) {
        CryptoException.throwIt(CryptoException.ILLEGAL_USE);
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public byte getMessageDigestAlgorithm() {
        return MessageDigest.ALG_NULL;
    }

    public byte getCipherAlgorithm() {
        if (isDes) {
            return bytes == 4 ? SIG_CIPHER_DES_MAC4 : SIG_CIPHER_DES_MAC8;
        }
        return algorithm == ALG_AES_CMAC_128 ? SIG_CIPHER_AES_CMAC128 : SIG_CIPHER_AES_MAC128;
    }

    public byte getPaddingAlgorithm() {
        return padding;
    }

    public short getLength() {
        require(mode);
        return bytes;
    }

    public void update(byte[] inBuff, short inOffset, short inLength) {
        require(mode);
        take(inBuff, inOffset, inLength);
    }

    public short sign(byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset) {
        require(MODE_SIGN);
        finish(inBuff, inOffset, inLength);
        Util.arrayCopy(state, (short) 0, sigBuff, sigOffset, bytes);
        restart();
        return bytes;
    }

    public short signPreComputedHash(
            byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset) {
        CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        return 0;
    }

    public boolean verify(
            byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset, short sigLength) {
        require(MODE_VERIFY);
        finish(inBuff, inOffset, inLength);
        boolean isSame = sigLength == bytes && Codes.areSame(state, (short) 0, sigBuff, sigOffset, sigLength);
        restart();
        return isSame;
    }

    public boolean verifyPreComputedHash(
            byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset, short sigLength) {
        CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        return false;
    }

    /** Takes data; a block that is whole waits until more comes. */
    private void take(byte[] in, short offset, short length) {
        Util.arrayCompare(in, offset, in, offset, length);
        while (length > 0) {
            if (state[COUNT] == block()) {
                chain();
            }
            short taken = (short) (block() - state[COUNT]);
            if (taken > length) {
                taken = length;
            }
            Util.arrayCopyNonAtomic(in, offset, state, (short) (WAITING + state[COUNT]), taken);
            state[COUNT] += (byte) taken;
            offset += taken;
            length -= taken;
        }
    }

    /** Takes the last data; the code is then where the block before is. */
    private void finish(byte[] in, short offset, short length) {
        take(in, offset, length);
        pad();
        chain();
        if (isRetail()) {
            // Decrypted by the second key, and encrypted by the third; or by the first, where there are two.
            short third = key.bytes() == 24 ? (short) 16 : (short) 0;
            one(DECRYPT, DES_KEY);
            one(ENCRYPT, third);
        }
    }

    private void pad() {
        short count = state[COUNT];
        boolean isWhole = count == block();
        switch (padding) {
            case SignatureNames.PAD_NOPAD:
                if (!isWhole) {
                    restart();
                    CryptoException.throwIt(CryptoException.ILLEGAL_USE);
                }
                return;
            case SignatureNames.PAD_ISO9797_M1:
            case SignatureNames.PAD_ISO9797_1_M1_ALG3:
                fill(count, (byte) 0, (byte) 0);
                return;
            case SignatureNames.PAD_PKCS5:
                if (isWhole) {
                    chain();
                    count = 0;
                }
                byte missing = (byte) (block() - count);
                fill(count, missing, missing);
                return;
            case SignatureNames.PAD_ISO9797_M2:
            case SignatureNames.PAD_ISO9797_1_M2_ALG3:
                if (isWhole) {
                    chain();
                    count = 0;
                }
                fill(count, PADDING, (byte) 0);
                return;
            default:
                // CMAC: a subkey for a whole block, another for one that is padded.
                if (!isWhole) {
                    fill(count, PADDING, (byte) 0);
                }
                addSubkey(!isWhole);
        }
    }

    /** Fills what is missing of the block that waits. */
    private void fill(short count, byte first, byte rest) {
        if (count < block()) {
            state[(short) (WAITING + count)] = first;
            Util.arrayFillNonAtomic(state, (short) (WAITING + count + 1), (short) (block() - count - 1), rest);
            state[COUNT] = (byte) block();
        }
    }

    /** Adds a subkey to the block that waits: the encrypted zero, doubled once or twice. */
    private void addSubkey(boolean isSecond) {
        Util.arrayFillNonAtomic(state, SUBKEY, block(), (byte) 0);
        loadKey((short) 0, (byte) key.bytes());
        blocks(ENCRYPT, (byte) key.bytes(), false, SUBKEY);
        Util.arrayFillNonAtomic(state, KEY, (short) 32, (byte) 0);
        twice();
        if (isSecond) {
            twice();
        }
        for (short at = 0; at < block(); at++) {
            state[(short) (WAITING + at)] ^= state[(short) (SUBKEY + at)];
        }
        Util.arrayFillNonAtomic(state, SUBKEY, block(), (byte) 0);
    }

    /** Doubles the subkey in the field of its blocks. */
    private void twice() {
        byte carry = 0;
        for (short at = (short) (SUBKEY + block() - 1); at >= SUBKEY; at--) {
            short doubled = (short) ((state[at] & 0xFF) << 1 | carry);
            state[at] = (byte) doubled;
            carry = (byte) (doubled >> 8);
        }
        // Without a branch: the subkey is a secret.
        state[(short) (SUBKEY + block() - 1)] ^= (byte) (-carry & POLYNOMIAL);
    }

    /** Takes the block that waits into the chain. */
    private void chain() {
        byte length = isRetail() ? (byte) DES_KEY : (byte) key.bytes();
        loadKey((short) 0, length);
        blocks(ENCRYPT, length, true, WAITING);
        Util.arrayFillNonAtomic(state, KEY, (short) 32, (byte) 0);
        state[COUNT] = 0;
    }

    /** Encrypts or decrypts the block before by one key of DES. */
    private void one(byte direction, short offset) {
        loadKey(offset, (byte) DES_KEY);
        Util.arrayCopyNonAtomic(state, (short) 0, state, WAITING, block());
        blocks(direction, (byte) DES_KEY, false, WAITING);
        Util.arrayCopyNonAtomic(state, WAITING, state, (short) 0, block());
        Util.arrayFillNonAtomic(state, KEY, (short) 32, (byte) 0);
    }

    private void loadKey(short offset, byte length) {
        Util.arrayCopyNonAtomic(key.value, offset, state, KEY, length);
    }

    private void blocks(byte direction, byte length, boolean isChained, short at) {
        byte by = isDes ? (byte) (direction | Algorithms.WITH_DES) : direction;
        Algorithms.blocks(by, state, length, isChained, state, at, block(), state, at);
    }

    private void require(byte wanted) {
        if (mode == 0 || mode != wanted) {
            CryptoException.throwIt(CryptoException.INVALID_INIT);
        }
        key.require(StoredKey.VALUE);
    }

    private void restart() {
        Util.arrayFillNonAtomic(state, (short) 0, STATE_BYTES, (byte) 0);
    }
}
