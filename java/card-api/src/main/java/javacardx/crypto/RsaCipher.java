package javacardx.crypto;

import javacard.framework.JCSystem;
import javacard.framework.Util;
import javacard.security.CryptoException;
import javacard.security.Key;
import javacard.security.MessageDigest;
import javacard.security.RSAPrivateCrtKey;
import javacard.security.RSAPrivateKey;
import javacard.security.RSAPublicKey;
import javacard.security.RandomData;
import javacard.security.Signature;

/**
 * RSA (RFC 8017): of a number, with PKCS#1's older padding, and with OAEP and an empty label. What came is in RAM until
 * the last of it.
 */
final class RsaCipher extends Cipher {
    /** {@code Signature}'s name for raising a number. */
    private static final byte RAISE = -128;
    private static final byte BY_PRIVATE_KEY = 1;
    private static final byte BY_PUBLIC_KEY = 2;
    /** Bytes of the older padding at least. */
    private static final short PADDING = 11;

    private final byte algorithm;
    private final byte padding;
    private final Signature raiser = Signature.getInstance(RAISE, false);
    private final RandomData random;
    /** Of OAEP. */
    private final MessageDigest digest;
    /** A block, how many bytes came, and a hash with a counter before it. */
    private byte[] block;
    private short bytes;
    private boolean isPublic;
    private byte mode;

    RsaCipher(byte algorithm, byte padding, byte digestAlgorithm) {
        this.algorithm = algorithm;
        this.padding = padding;
        random = padding == PAD_NOPAD ? null : RandomData.getInstance(RandomData.ALG_SECURE_RANDOM);
        digest = digestAlgorithm == MessageDigest.ALG_NULL ? null : MessageDigest.getInstance(digestAlgorithm, false);
    }

    public void init(Key theKey, byte theMode) {
        boolean isKey = theKey instanceof RSAPublicKey
                || theKey instanceof RSAPrivateKey
                || theKey instanceof RSAPrivateCrtKey;
        if (!isKey || theMode != MODE_ENCRYPT && theMode != MODE_DECRYPT) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        if (!theKey.isInitialized()) {
            CryptoException.throwIt(CryptoException.UNINITIALIZED_KEY);
        }
        short keyBytes = (short) (theKey.getSize() / 8);
        short length = (short) (keyBytes + 2 + 4 + 64);
        if (block == null || block.length < length) {
            block = JCSystem.makeTransientByteArray(length, JCSystem.CLEAR_ON_RESET);
        }
        boolean isPublicKey = theKey instanceof RSAPublicKey;
        if (bytes != keyBytes || isPublic != isPublicKey || mode != theMode) {
            changeTo(theKey, keyBytes, isPublicKey, theMode);
        } else {
            raiser.init(theKey, Signature.MODE_SIGN);
        }
        restart();
    }

    /** All of it or nothing: a cut of the power leaves no public key that is padded for as a private one is. */
    private void changeTo(Key theKey, short keyBytes, boolean isPublicKey, byte theMode) {
        boolean isOwn = JCSystem.getTransactionDepth() == 0;
        if (isOwn) {
            JCSystem.beginTransaction();
        }
        raiser.init(theKey, Signature.MODE_SIGN);
        bytes = keyBytes;
        isPublic = isPublicKey;
        mode = theMode;
        if (isOwn) {
            JCSystem.commitTransaction();
        }
    }

    public void init(Key theKey, byte theMode, byte[] bArray, short bOff, short bLen) {
        CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
    }

    public byte getAlgorithm() {
        return algorithm;
    }

    public byte getCipherAlgorithm() {
        return CIPHER_RSA;
    }

    public byte getPaddingAlgorithm() {
        return padding;
    }

    public short update(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        check();
        take(inBuff, inOffset, inLength);
        return 0;
    }

    public short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset) {
        check();
        take(inBuff, inOffset, inLength);
        short count = count();
        short written;
        if (mode == MODE_ENCRYPT) {
            pad(count);
            written = raiser.sign(block, (short) 0, bytes, outBuff, outOffset);
        } else {
            if (count != bytes) {
                refuse();
            }
            raiser.sign(block, (short) 0, bytes, block, (short) 0);
            short start = unpad();
            written = (short) (bytes - start);
            Util.arrayCopy(block, start, outBuff, outOffset, written);
        }
        restart();
        return written;
    }

    private short count() {
        return Util.getShort(block, bytes);
    }

    private void take(byte[] in, short offset, short length) {
        short count = count();
        if (length < 0 || (short) (count + length) > bytes) {
            refuse();
        }
        Util.arrayCopyNonAtomic(in, offset, block, count, length);
        Util.setShort(block, bytes, (short) (count + length));
    }

    /** Moves what came to the end of the block, and pads it. */
    private void pad(short count) {
        switch (padding) {
            case PAD_NOPAD:
                if (count != bytes) {
                    refuse();
                }
                return;
            case PAD_PKCS1:
                if (count > (short) (bytes - PADDING)) {
                    refuse();
                }
                short data = (short) (bytes - count);
                Util.arrayCopyNonAtomic(block, (short) 0, block, data, count);
                short fill = (short) (data - 3);
                if (isPublic) {
                    random.generateData(block, (short) 2, fill);
                    replaceZeros((short) 2, fill);
                } else {
                    Util.arrayFillNonAtomic(block, (short) 2, fill, (byte) 0xFF);
                }
                Util.setShort(block, (short) 0, isPublic ? BY_PUBLIC_KEY : BY_PRIVATE_KEY);
                block[(short) (data - 1)] = 0;
                return;
            default:
                padByMasks(count);
        }
    }

    /** Draws again what must not be 0. */
    private void replaceZeros(short first, short length) {
        for (short at = first; at < (short) (first + length); at++) {
            while (block[at] == 0) {
                random.generateData(block, at, (short) 1);
            }
        }
    }

    /** OAEP: a seed, and the hash of nothing, zeros, 1 and what came, each masked by the other. */
    private void padByMasks(short count) {
        short hash = digest.getLength();
        short seed = 1;
        short label = (short) (seed + hash);
        short data = (short) (bytes - count);
        if (data < (short) (label + hash + 1)) {
            refuse();
        }
        Util.arrayCopyNonAtomic(block, (short) 0, block, data, count);
        Util.arrayFillNonAtomic(block, (short) 0, data, (byte) 0);
        block[(short) (data - 1)] = 1;
        digest.reset();
        digest.doFinal(block, (short) 0, (short) 0, block, label);
        random.generateData(block, seed, hash);
        mask(seed, hash, label, (short) (bytes - label));
        mask(label, (short) (bytes - label), seed, hash);
    }

    /** Where the data start, once the padding is looked at. */
    private short unpad() {
        switch (padding) {
            case PAD_NOPAD:
                return 0;
            case PAD_PKCS1:
                return unpadByZero();
            default:
                return unpadByMasks();
        }
    }

    /** Where the data start behind the first 0. All of the padding is looked at before anything is said. */
    private short unpadByZero() {
        int wrong = block[0] & 0xFF | (block[1] & 0xFF ^ (isPublic ? BY_PRIVATE_KEY : BY_PUBLIC_KEY));
        int found = 0;
        int place = 0;
        for (short at = 2; at < bytes; at++) {
            int isFirst = (block[at] & 0xFF) - 1 >> 31 & ~found;
            place |= isFirst & at;
            found |= isFirst;
        }
        // No 0 is one at 0: too early.
        wrong |= place - (PADDING - 1) >> 31;
        if (wrong != 0) {
            refuse();
        }
        return (short) (place + 1);
    }

    private short unpadByMasks() {
        short hash = digest.getLength();
        short seed = 1;
        short label = (short) (seed + hash);
        mask(label, (short) (bytes - label), seed, hash);
        mask(seed, hash, label, (short) (bytes - label));
        digest.reset();
        digest.doFinal(block, (short) 0, (short) 0, block, (short) (bytes + 6));
        // All of it is looked at before anything is said.
        int wrong = block[0] & 0xFF;
        for (short at = 0; at < hash; at++) {
            wrong |= block[(short) (label + at)] ^ block[(short) (bytes + 6 + at)];
        }
        int found = 0;
        int place = 0;
        for (short at = (short) (label + hash); at < bytes; at++) {
            int data = block[at] & 0xFF;
            int isFirst = ~(data - 1 >> 31) & ~found;
            place |= isFirst & at;
            wrong |= isFirst & (data ^ 1);
            found |= isFirst;
        }
        if ((wrong | ~found) != 0) {
            refuse();
        }
        return (short) (place + 1);
    }

    /** Adds MGF1 of a range to another one. */
    private void mask(short seed, short seedLength, short to, short length) {
        short counter = (short) (bytes + 2);
        short room = (short) (bytes + 6);
        short hash = digest.getLength();
        short at = 0;
        for (byte count = 0; at < length; count++) {
            Util.arrayFillNonAtomic(block, counter, (short) 3, (byte) 0);
            block[(short) (counter + 3)] = count;
            digest.reset();
            digest.update(block, seed, seedLength);
            digest.doFinal(block, counter, (short) 4, block, room);
            for (short place = 0; place < hash && at < length; place++) {
                block[(short) (to + at)] ^= block[(short) (room + place)];
                at++;
            }
        }
    }

    private void check() {
        if (mode == 0) {
            CryptoException.throwIt(CryptoException.INVALID_INIT);
        }
    }

    /** Refuses, and begins again. */
    private void refuse() {
        restart();
        CryptoException.throwIt(CryptoException.ILLEGAL_USE);
    }

    private void restart() {
        Util.arrayFillNonAtomic(block, (short) 0, (short) block.length, (byte) 0);
    }
}
