package javacard.security;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/** Signatures of RSA (RFC 8017): with PKCS#1's older padding and with PSS; or of numbers, without a hash. */
final class RsaSignature extends Signature {
    /** For {@code Cipher}: raises a number of the modulus' bytes, by a key of either kind. */
    static final byte RAW = -128;
    /** {@code Cipher}'s paddings. */
    static final byte PAD_PKCS1 = 7;
    static final byte PAD_PKCS1_PSS = 8;

    private static final byte TRAILER = (byte) 0xBC;
    /** Bytes of an object identifier before a hash: those of SHA-1 are fewer. */
    private static final short PREFIX = 19;
    private static final short PREFIX_SHA1 = 15;
    /** Zeros before the hash that PSS hashes again. */
    private static final short ZEROS = 8;

    private final byte algorithm;
    private final byte padding;
    private final ShaDigest digest;
    /** The padded hash, and after it the hash and its salt, or a mask. */
    private byte[] block;
    private StoredRsaKey key;
    private byte mode;

    RsaSignature(byte algorithm, byte digestAlgorithm, byte padding) {
        if (!Algorithms.hasRsa()) {
            CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
        this.algorithm = algorithm;
        this.padding = padding;
        digest = algorithm == RAW ? null : new ShaDigest(digestAlgorithm);
    }

    public void init(Key theKey, byte theMode) {
        boolean fits = theKey instanceof StoredRsaKey && (theMode == MODE_SIGN || theMode == MODE_VERIFY);
        if (fits && algorithm != RAW) {
            fits = theKey instanceof RSAPublicKey == (theMode == MODE_VERIFY);
        }
        if (!fits) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        StoredRsaKey given = (StoredRsaKey) theKey;
        given.requireAll();
        if (algorithm != RAW) {
            short hash = digest.getLength();
            short least = (short) (padding == PAD_PKCS1 ? hash + PREFIX + 11 : 2 * hash + 2);
            if (given.modulusBytes() < least) {
                CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
            }
        }
        if (algorithm != RAW) {
            digest.reset();
            // To verify, there is another block: what the signature raises to.
            short bytes = (short) (2 * given.modulusBytes() + 3 * digest.getLength() + ZEROS);
            if (block == null || block.length < bytes) {
                block = JCSystem.makeTransientByteArray(bytes, JCSystem.CLEAR_ON_RESET);
            }
        }
        boolean isOwn = key != given && mode != theMode && StoredKey.begin();
        if (key != given) {
            key = given;
        }
        if (mode != theMode) {
            mode = theMode;
        }
        StoredKey.commit(isOwn);
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
        requireHash(mode);
        digest.setInitialDigest(
                initialDigestBuf,
                initialDigestOffset,
                initialDigestLength,
                digestedMsgLenBuf,
                digestedMsgLenOffset,
                digestedMsgLenLength);
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public byte getMessageDigestAlgorithm() {
        return digest == null ? MessageDigest.ALG_NULL : digest.getAlgorithm();
    }

    public byte getCipherAlgorithm() {
        return SIG_CIPHER_RSA;
    }

    public byte getPaddingAlgorithm() {
        return padding;
    }

    public short getLength() {
        require(mode);
        return key.modulusBytes();
    }

    public void update(byte[] inBuff, short inOffset, short inLength) {
        requireHash(mode);
        digest.update(inBuff, inOffset, inLength);
    }

    public short sign(byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset) {
        if (algorithm == RAW) {
            require(MODE_SIGN);
            key.raise(inBuff, inOffset, sigBuff, sigOffset);
            return key.modulusBytes();
        }
        requireHash(MODE_SIGN);
        digest.doFinal(inBuff, inOffset, inLength, block, hashAt());
        return signHash(sigBuff, sigOffset);
    }

    public short signPreComputedHash(
            byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset) {
        requireHash(MODE_SIGN);
        take(hashBuff, hashOffset, hashLength);
        return signHash(sigBuff, sigOffset);
    }

    public boolean verify(
            byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset, short sigLength) {
        requireHash(MODE_VERIFY);
        digest.doFinal(inBuff, inOffset, inLength, block, hashAt());
        return verifyHash(sigBuff, sigOffset, sigLength);
    }

    public boolean verifyPreComputedHash(
            byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset, short sigLength) {
        requireHash(MODE_VERIFY);
        take(hashBuff, hashOffset, hashLength);
        return verifyHash(sigBuff, sigOffset, sigLength);
    }

    /** Where the hash is that is signed: after the block and the zeros that PSS puts before it. */
    private short hashAt() {
        return (short) (key.modulusBytes() + ZEROS);
    }

    private void take(byte[] hash, short offset, short length) {
        if (length != digest.getLength()) {
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }
        digest.reset();
        Util.arrayCopyNonAtomic(hash, offset, block, hashAt(), length);
    }

    private short signHash(byte[] out, short offset) {
        if (padding == PAD_PKCS1) {
            pad();
        } else {
            short hash = digest.getLength();
            Algorithms.random(block, (short) (hashAt() + hash), hash);
            padBySalt();
        }
        key.raise(block, (short) 0, out, offset);
        return key.modulusBytes();
    }

    /** PKCS#1's older padding of the hash, at the start of the block. */
    private void pad() {
        short bytes = key.modulusBytes();
        short hash = digest.getLength();
        boolean isSha1 = digest.getAlgorithm() == MessageDigest.ALG_SHA;
        short prefix = (short) (bytes - hash - (isSha1 ? PREFIX_SHA1 : PREFIX));
        Util.arrayFillNonAtomic(block, (short) 0, prefix, (byte) 0xFF);
        Util.setShort(block, (short) 0, (short) 1);
        block[(short) (prefix - 1)] = 0;
        // A sequence of a sequence of the hash's object identifier and null, and of the hash.
        short at = prefix;
        if (isSha1) {
            at = Util.setShort(block, at, (short) 0x3021);
            at = Util.setShort(block, at, (short) 0x3009);
            at = Util.setShort(block, at, (short) 0x0605);
            at = Util.setShort(block, at, (short) 0x2B0E);
            at = Util.setShort(block, at, (short) 0x0302);
            block[at] = 0x1A;
            at++;
        } else {
            at = Util.setShort(block, at, (short) (0x3011 + hash));
            at = Util.setShort(block, at, (short) 0x300D);
            at = Util.setShort(block, at, (short) 0x0609);
            at = Util.setShort(block, at, (short) 0x6086);
            at = Util.setShort(block, at, (short) 0x4801);
            at = Util.setShort(block, at, (short) 0x6503);
            at = Util.setShort(block, at, (short) 0x0402);
            block[at] = identifier();
            at++;
        }
        at = Util.setShort(block, at, (short) 0x0500);
        at = Util.setShort(block, at, (short) (0x0400 + hash));
        Util.arrayCopyNonAtomic(block, hashAt(), block, at, hash);
    }

    /** The last byte of a hash's object identifier. */
    private byte identifier() {
        switch (digest.getAlgorithm()) {
            case MessageDigest.ALG_SHA_256:
                return 1;
            case MessageDigest.ALG_SHA_384:
                return 2;
            case MessageDigest.ALG_SHA_512:
                return 3;
            default:
                return 4;
        }
    }

    /** PSS of the hash and the salt after it, at the start of the block. */
    private void padBySalt() {
        short bytes = key.modulusBytes();
        short hash = digest.getLength();
        short seed = (short) (bytes - hash - 1);
        short zeros = (short) (seed - hash - 1);
        Util.arrayFillNonAtomic(block, (short) 0, zeros, (byte) 0);
        block[zeros] = 1;
        Util.arrayCopyNonAtomic(block, (short) (hashAt() + hash), block, (short) (zeros + 1), hash);
        hashAgain(seed);
        mask(seed);
        block[0] &= 0x7F;
        block[(short) (bytes - 1)] = TRAILER;
    }

    /** Hashes zeros, the hash and the salt, into the block. */
    private void hashAgain(short at) {
        short bytes = key.modulusBytes();
        Util.arrayFillNonAtomic(block, bytes, ZEROS, (byte) 0);
        digest.doFinal(block, bytes, (short) (ZEROS + 2 * digest.getLength()), block, at);
    }

    /** Adds MGF1 of the hash at a place to what is before it; the hash that is signed and its salt are lost. */
    private void mask(short seed) {
        short hash = digest.getLength();
        short counter = key.modulusBytes();
        short room = hashAt();
        short at = 0;
        for (byte count = 0; at < seed; count++) {
            Util.arrayFillNonAtomic(block, counter, (short) 3, (byte) 0);
            block[(short) (counter + 3)] = count;
            digest.update(block, seed, hash);
            digest.doFinal(block, counter, (short) 4, block, room);
            for (short place = 0; place < hash && at < seed; place++) {
                block[at] ^= block[(short) (room + place)];
                at++;
            }
        }
    }

    private boolean verifyHash(byte[] signature, short offset, short length) {
        short bytes = key.modulusBytes();
        if (length != bytes) {
            return false;
        }
        // Behind the hash, the salt and a hash for comparison.
        short raised = (short) (hashAt() + 3 * digest.getLength());
        if (!key.raises(signature, offset, block, raised)) {
            return false;
        }
        if (padding == PAD_PKCS1) {
            pad();
            return Codes.areSame(block, (short) 0, block, raised, bytes);
        }
        return verifyBySalt(raised);
    }

    private boolean verifyBySalt(short raised) {
        short bytes = key.modulusBytes();
        short hash = digest.getLength();
        short seed = (short) (bytes - hash - 1);
        short zeros = (short) (seed - hash - 1);
        // The hash that is signed has to outlive the mask.
        short kept = (short) (hashAt() + 2 * hash);
        Util.arrayCopyNonAtomic(block, hashAt(), block, kept, hash);
        Util.arrayCopyNonAtomic(block, raised, block, (short) 0, bytes);
        boolean isPadded = block[(short) (bytes - 1)] == TRAILER && (block[0] & 0x80) == 0;
        mask(seed);
        block[0] &= 0x7F;
        for (short at = 0; at < zeros; at++) {
            isPadded &= block[at] == 0;
        }
        isPadded &= block[zeros] == 1;
        Util.arrayCopyNonAtomic(block, kept, block, hashAt(), hash);
        Util.arrayCopyNonAtomic(block, (short) (zeros + 1), block, (short) (hashAt() + hash), hash);
        hashAgain(raised);
        return Codes.areSame(block, raised, block, seed, hash) & isPadded;
    }

    private void require(byte wanted) {
        if (mode == 0 || mode != wanted) {
            CryptoException.throwIt(CryptoException.INVALID_INIT);
        }
        key.requireAll();
    }

    private void requireHash(byte wanted) {
        require(wanted);
        if (algorithm == RAW) {
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }
    }
}
