package javacard.security;

import javacard.framework.JCSystem;

/** A public key of P-256. Whether its point is on the curve is found when it is used. */
final class StoredPublicKey extends StoredEcKey implements ECPublicKey {
    private static final byte UNCOMPRESSED = 4;

    StoredPublicKey(byte type, short bits) {
        super(type, bits, true, JCSystem.NOT_A_TRANSIENT_OBJECT);
    }

    public void setW(byte[] buffer, short offset, short length) {
        if (length != bytes() || buffer[offset] != UNCOMPRESSED) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        set(buffer, offset, length);
    }

    public short getW(byte[] buffer, short offset) {
        return get(buffer, offset);
    }
}
