package javacard.security;

/** A key of P-256: which of the parameters were set, which are the curve's and take no room. */
abstract class StoredEcKey extends StoredKey implements ECKey {
    private static final byte PARAMETERS = 0x3E;
    private static final byte COFACTOR = 0x40;

    StoredEcKey(byte type, short bytes, byte memory) {
        super(type, (short) 256, bytes, memory);
    }

    public boolean isInitialized() {
        return has((byte) (VALUE | PARAMETERS));
    }

    /** Sets all parameters that were not set. */
    final void addParameters() {
        add((byte) (PARAMETERS | COFACTOR));
    }

    private static byte flag(byte which) {
        return (byte) (2 << which);
    }

    private void setParameter(byte which, byte[] buffer, short offset, short length) {
        if (!Algorithms.isParameter(which, buffer, offset, length)) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        add(flag(which));
    }

    private short parameter(byte which, byte[] buffer, short offset) {
        require(flag(which));
        return Algorithms.parameter(which, buffer, offset);
    }

    public void setFieldFP(byte[] buffer, short offset, short length) {
        setParameter(Algorithms.FIELD, buffer, offset, length);
    }

    public void setFieldF2M(short e) {
        CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
    }

    public void setFieldF2M(short e1, short e2, short e3) {
        CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
    }

    public void setA(byte[] buffer, short offset, short length) {
        setParameter(Algorithms.A, buffer, offset, length);
    }

    public void setB(byte[] buffer, short offset, short length) {
        setParameter(Algorithms.B, buffer, offset, length);
    }

    public void setG(byte[] buffer, short offset, short length) {
        setParameter(Algorithms.G, buffer, offset, length);
    }

    public void setR(byte[] buffer, short offset, short length) {
        setParameter(Algorithms.R, buffer, offset, length);
    }

    public void setK(short K) {
        if (K != 1) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        add(COFACTOR);
    }

    public short getField(byte[] buffer, short offset) {
        return parameter(Algorithms.FIELD, buffer, offset);
    }

    public short getA(byte[] buffer, short offset) {
        return parameter(Algorithms.A, buffer, offset);
    }

    public short getB(byte[] buffer, short offset) {
        return parameter(Algorithms.B, buffer, offset);
    }

    public short getG(byte[] buffer, short offset) {
        return parameter(Algorithms.G, buffer, offset);
    }

    public short getR(byte[] buffer, short offset) {
        return parameter(Algorithms.R, buffer, offset);
    }

    public short getK() {
        require(COFACTOR);
        return 1;
    }

    public void copyDomainParametersFrom(ECKey ecKey) {
        if (!(ecKey instanceof StoredEcKey)) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        ((StoredEcKey) ecKey).require(PARAMETERS);
        addParameters();
    }
}
