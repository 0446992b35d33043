package javacard.security;

import javacard.framework.JCSystem;

/** ECDSA over the curve of the key. Key and mode are on flash, since they outlive a reset. */
final class EcdsaSignature extends Signature {
    /** As in {@code javacardx.crypto.Cipher}, which is built on this package. */
    static final byte PAD_NULL = 0;

    private final byte algorithm;
    private final ShaDigest digest;
    private final byte[] hash;
    private StoredEcKey key;
    private byte mode;

    EcdsaSignature(byte algorithm, byte digestAlgorithm) {
        Algorithms.require(Algorithms.CURVES);
        this.algorithm = algorithm;
        digest = new ShaDigest(digestAlgorithm);
        hash = JCSystem.makeTransientByteArray(digest.getLength(), JCSystem.CLEAR_ON_RESET);
    }

    public void init(Key theKey, byte theMode) {
        boolean fits = theMode == MODE_SIGN && theKey instanceof StoredPrivateKey
                || theMode == MODE_VERIFY && theKey instanceof StoredPublicKey;
        if (!fits) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        if (!theKey.isInitialized()) {
            CryptoException.throwIt(CryptoException.UNINITIALIZED_KEY);
        }
        boolean isOwn = key != theKey && mode != theMode && StoredKey.begin();
        if (key != theKey) {
            key = (StoredEcKey) theKey;
        }
        if (mode != theMode) {
            mode = theMode;
        }
        StoredKey.commit(isOwn);
        digest.reset();
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
        require(mode);
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
        return digest.getAlgorithm();
    }

    public byte getCipherAlgorithm() {
        return SIG_CIPHER_ECDSA;
    }

    public byte getPaddingAlgorithm() {
        return PAD_NULL;
    }

    public short getLength() {
        require(mode);
        // Two numbers of the field, each with a byte for its sign and two of a head, in a head of two or three bytes.
        short bytes = (short) (2 * ((short) ((key.getSize() + 7) / 8) + 3));
        return (short) (bytes + (bytes < 128 ? 2 : 3));
    }

    public void update(byte[] inBuff, short inOffset, short inLength) {
        require(mode);
        digest.update(inBuff, inOffset, inLength);
    }

    public short sign(byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset) {
        require(MODE_SIGN);
        digest.doFinal(inBuff, inOffset, inLength, hash, (short) 0);
        return signHash(hash, (short) 0, sigBuff, sigOffset);
    }

    public short signPreComputedHash(
            byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset) {
        require(MODE_SIGN);
        checkHash(hashLength);
        return signHash(hashBuff, hashOffset, sigBuff, sigOffset);
    }

    public boolean verify(
            byte[] inBuff, short inOffset, short inLength, byte[] sigBuff, short sigOffset, short sigLength) {
        require(MODE_VERIFY);
        short length = digest.doFinal(inBuff, inOffset, inLength, hash, (short) 0);
        return Algorithms.verify(key.curve(), key.value, hash, (short) 0, length, sigBuff, sigOffset, sigLength);
    }

    public boolean verifyPreComputedHash(
            byte[] hashBuff, short hashOffset, short hashLength, byte[] sigBuff, short sigOffset, short sigLength) {
        require(MODE_VERIFY);
        checkHash(hashLength);
        return Algorithms.verify(
                key.curve(), key.value, hashBuff, hashOffset, hashLength, sigBuff, sigOffset, sigLength);
    }

    /** The hash is elsewhere: what came before is forgotten. */
    private void checkHash(short length) {
        if (length != digest.getLength()) {
            CryptoException.throwIt(CryptoException.ILLEGAL_USE);
        }
        digest.reset();
    }

    private short signHash(byte[] from, short offset, byte[] sigBuff, short sigOffset) {
        short length = Algorithms.sign(key.curve(), key.value, from, offset, digest.getLength(), sigBuff, sigOffset);
        if (length == 0) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        return length;
    }

    private void require(byte wanted) {
        if (mode == 0 || mode != wanted) {
            CryptoException.throwIt(CryptoException.INVALID_INIT);
        }
        if (!key.isInitialized()) {
            CryptoException.throwIt(CryptoException.UNINITIALIZED_KEY);
        }
    }
}
