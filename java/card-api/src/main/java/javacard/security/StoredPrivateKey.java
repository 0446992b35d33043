package javacard.security;

/** A private key of a curve. */
final class StoredPrivateKey extends StoredEcKey implements ECPrivateKey {
    StoredPrivateKey(byte type, short bits, byte memory, StoredEcKey domain) {
        super(type, bits, fieldBytes(bits), memory, domain);
    }

    public void setS(byte[] buffer, short offset, short length) {
        if (length <= 0) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        set(buffer, offset, length);
    }

    public short getS(byte[] buffer, short offset) {
        return get(buffer, offset);
    }
}
