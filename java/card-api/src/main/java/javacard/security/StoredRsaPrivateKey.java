package javacard.security;

/** A private key of RSA, by modulus and exponent. */
final class StoredRsaPrivateKey extends StoredRsaKey implements RSAPrivateKey {
    private static final byte MODULUS = 0;
    private static final byte EXPONENT = 1;

    StoredRsaPrivateKey(byte type, short bits, byte memory) {
        super(type, bits, (short) (bits / 4), (byte) 2, memory);
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
