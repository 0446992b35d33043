package javacard.security;

import javacard.framework.JCSystem;

/** A public key of a curve. Whether its point is on the curve is found when it is used. */
final class StoredPublicKey extends StoredEcKey implements ECPublicKey {
    private static final byte UNCOMPRESSED = 4;

    StoredPublicKey(byte type, short bits, StoredEcKey domain) {
        super(type, bits, (short) (2 * fieldBytes(bits) + 1), JCSystem.NOT_A_TRANSIENT_OBJECT, domain);
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
