package javacard.security;

/** A key of DES. */
final class StoredDesKey extends StoredKey implements DESKey {
    StoredDesKey(byte type, short bits, byte memory) {
        super(type, bits, (short) (bits / 8), memory);
    }

    public void setKey(byte[] keyData, short kOff) {
        set(keyData, kOff, bytes());
    }

    public byte getKey(byte[] keyData, short kOff) {
        return (byte) get(keyData, kOff);
    }
}
