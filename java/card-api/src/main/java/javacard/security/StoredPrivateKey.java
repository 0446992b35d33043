package javacard.security;

/** A private key of P-256. */
final class StoredPrivateKey extends StoredEcKey implements ECPrivateKey {
    StoredPrivateKey(byte type, short bits, byte memory) {
        super(type, bits, false, memory);
    }

    public void setS(byte[] buffer, short offset, short length) {
        set(buffer, offset, length);
    }

    public short getS(byte[] buffer, short offset) {
        return get(buffer, offset);
    }
}
