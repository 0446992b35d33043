package javacard.security;

/** A private key of RSA, by its prime factors. */
final class StoredRsaCrtKey extends StoredRsaKey implements RSAPrivateCrtKey {
    StoredRsaCrtKey(byte type, short bits, byte memory) {
        super(type, bits, (short) (bits / 16 * 5), (byte) 5, memory);
    }

    boolean isByFactors() {
        return true;
    }

    public void setP(byte[] buffer, short offset, short length) {
        setPart((byte) 0, buffer, offset, length);
    }

    public short getP(byte[] buffer, short offset) {
        return getPart((byte) 0, buffer, offset);
    }

    public void setQ(byte[] buffer, short offset, short length) {
        setPart((byte) 1, buffer, offset, length);
    }

    public short getQ(byte[] buffer, short offset) {
        return getPart((byte) 1, buffer, offset);
    }

    public void setDP1(byte[] buffer, short offset, short length) {
        setPart((byte) 2, buffer, offset, length);
    }

    public short getDP1(byte[] buffer, short offset) {
        return getPart((byte) 2, buffer, offset);
    }

    public void setDQ1(byte[] buffer, short offset, short length) {
        setPart((byte) 3, buffer, offset, length);
    }

    public short getDQ1(byte[] buffer, short offset) {
        return getPart((byte) 3, buffer, offset);
    }

    public void setPQ(byte[] buffer, short offset, short length) {
        setPart((byte) 4, buffer, offset, length);
    }

    public short getPQ(byte[] buffer, short offset) {
        return getPart((byte) 4, buffer, offset);
    }
}
