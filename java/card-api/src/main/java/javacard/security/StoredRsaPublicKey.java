package javacard.security;

import javacard.framework.JCSystem;

/** A public key of RSA, by modulus and exponent. */
final class StoredRsaPublicKey extends StoredRsaKey implements RSAPublicKey {
    private static final byte MODULUS = 0;
    private static final byte EXPONENT = 1;

    StoredRsaPublicKey(byte type, short bits) {
        super(type, bits, (short) (bits / 4), (byte) 2, JCSystem.NOT_A_TRANSIENT_OBJECT);
    }

    boolean isByFactors() {
        return false;
    }

    public void setModulus(byte[] buffer, short offset, short length) {
        setPart(MODULUS, buffer, offset, length);
    }

    public void setExponent(byte[] buffer, short offset, short length) {
        setPart(EXPONENT, buffer, offset, length);
    }

    public short getModulus(byte[] buffer, short offset) {
        return getPart(MODULUS, buffer, offset);
    }

    public short getExponent(byte[] buffer, short offset) {
        return getShortPart(EXPONENT, buffer, offset);
    }
}
