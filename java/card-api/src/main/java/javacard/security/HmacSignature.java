package javacard.security;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/** HMAC (RFC 2104) over a hash of this package. */
final class HmacSignature extends Signature {
    private static final byte INNER = 0x36;
    private static final byte OUTER = 0x5C;
    /** Where the array in RAM says whether the inner hash has begun: after a block. */
    private static final short BLOCK_MAX = 128;
    /** Where it has the inner hash. */
    private static final short HASH = 129;
    private static final short RAM_BYTES = 129 + 64;

    private final byte algorithm;
    private final ShaDigest digest;
    private final byte[] block;
    private StoredHmacKey key;
    private byte mode;

    HmacSignature(byte algorithm, byte digestAlgorithm) {
        this.algorithm = algorithm;
        digest = new ShaDigest(digestAlgorithm);
        block = JCSystem.makeTransientByteArray(RAM_BYTES, JCSystem.CLEAR_ON_RESET);
    }

    public void init(Key theKey, byte theMode) {
        if (!(theKey instanceof StoredHmacKey) || theMode != MODE_SIGN && theMode != MODE_VERIFY) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        StoredHmacKey given = (StoredHmacKey) theKey;
        given.require(StoredKey.VALUE);
        if (given.getSize() > digest.getBlockLength()) {
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
        block[BLOCK_MAX] = 0;
    }

    public void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) {
        CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
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
        return digest.getAlgorithm();
    }

    public byte getCipherAlgorithm() {
        return SIG_CIPHER_HMAC;
    }

    public byte getPaddingAlgorithm() {
        return EcdsaSignature.PAD_NULL;
    }

    public short getLength() {
        require(mode);
        return digest.getLength();
    }

    public void update(byte[] inBuff, short inOffset, short inLength) {
        require(mode);
        begin();
        digest.update(inBuff, inOffset, inLength);
    }

    public short sign(byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset) {
        require(MODE_SIGN);
        finish(inBuff, inOffset, inLength);
        short length = digest.getLength();
        Util.arrayCopy(block, (short) 0, sigBuff, sigOffset, length);
        clear();
        return length;
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
        boolean isSame = sigLength == digest.getLength()
                && Codes.areSame(block, (short) 0, sigBuff, sigOffset, sigLength);
        clear();
        return isSame;
    }

    public boolean verifyPreComputedHash(
            byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset, short sigLength) {
        CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        return false;
    }

    /** Leaves the code at the start of the block. */
    private void finish(byte[] in, short offset, short length) {
        begin();
        short bytes = digest.doFinal(in, offset, length, block, HASH);
        fillKey(OUTER);
        digest.update(block, (short) 0, digest.getBlockLength());
        digest.doFinal(block, HASH, bytes, block, (short) 0);
    }

    /** Feeds the inner key where nothing was fed since the last code, or since a reset. */
    private void begin() {
        if (block[BLOCK_MAX] == 0) {
            digest.reset();
            fillKey(INNER);
            digest.update(block, (short) 0, digest.getBlockLength());
            block[BLOCK_MAX] = 1;
        }
    }

    private void fillKey(byte pad) {
        short bytes = digest.getBlockLength();
        Util.arrayFillNonAtomic(block, (short) 0, bytes, (byte) 0);
        key.getKey(block, (short) 0);
        for (short at = 0; at < bytes; at++) {
            block[at] ^= pad;
        }
    }

    private void clear() {
        Util.arrayFillNonAtomic(block, (short) 0, RAM_BYTES, (byte) 0);
    }

    private void require(byte wanted) {
        if (mode == 0 || mode != wanted) {
            CryptoException.throwIt(CryptoException.INVALID_INIT);
        }
        key.require(StoredKey.VALUE);
    }
}
