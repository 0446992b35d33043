package javacard.security;

/** A key of a curve: which of the parameters were set, and of which curves they are, so that they take no room. */
abstract class StoredEcKey extends StoredKey implements ECKey {
    private static final byte PARAMETERS = 0x3E;
    private static final byte COFACTOR = 0x40;

    /** The curves that the parameters leave, bit n for curve n. */
    private short curves;

    /** The key that has the parameters, where they are not this one's. */
    private final StoredEcKey domain;

    /** The domain is null, or a key of the same size whose parameters are this one's. */
    StoredEcKey(byte type, short bits, short bytes, byte memory, StoredEcKey domain) {
        super(type, bits, bytes, memory);
        this.domain = domain;
        curves = Algorithms.curves(bits, Algorithms.NONE, null, (short) 0, (short) 0);
        if (curves == 0) {
            CryptoException.throwIt(CryptoException.NO_SUCH_ALGORITHM);
        }
    }

    /** Bytes of a number of a field. */
    static short fieldBytes(short bits) {
        return (short) ((bits + 7) / 8);
    }

    /** The key that has the parameters. */
    final StoredEcKey domain() {
        return domain == null ? this : domain;
    }

    /** The number of the curve: the first one that the parameters leave. */
    final byte curve() {
        short curves = domain().curves;
        byte curve = 0;
        while ((curves >> curve & 1) == 0) {
            curve++;
        }
        return curve;
    }

    public void clearKey() {
        boolean isOwn = begin();
        super.clearKey();
        curves = Algorithms.curves(getSize(), Algorithms.NONE, null, (short) 0, (short) 0);
        commit(isOwn);
    }

    public boolean isInitialized() {
        return has(VALUE) && hasParameters();
    }

    /** Whether the curve's parameters are set. */
    final boolean hasParameters() {
        return domain().has(PARAMETERS);
    }

    /** Sets all parameters that were not set, as those of a curve. */
    final void addParameters(byte curve) {
        if (domain != null) {
            domain.addParameters(curve);
            return;
        }
        short one = (short) (1 << curve);
        if (curves != one) {
            curves = one;
        }
        add((byte) (PARAMETERS | COFACTOR));
    }

    private static byte flag(byte which) {
        return (byte) (2 << which);
    }

    private void setParameter(byte which, byte[] buffer, short offset, short length) {
        if (domain != null) {
            domain.setParameter(which, buffer, offset, length);
            return;
        }
        short left = (short) (curves & Algorithms.curves(getSize(), which, buffer, offset, length));
        if (left == 0) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        boolean isOwn = begin();
        if (left != curves) {
            curves = left;
        }
        add(flag(which));
        commit(isOwn);
    }

    private short parameter(byte which, byte[] buffer, short offset) {
        domain().require(flag(which));
        return Algorithms.parameter(curve(), which, buffer, offset);
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
        domain().add(COFACTOR);
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
        domain().require(COFACTOR);
        return 1;
    }

    public void copyDomainParametersFrom(ECKey ecKey) {
        if (!(ecKey instanceof StoredEcKey) || ((StoredEcKey) ecKey).getSize() != getSize()) {
            CryptoException.throwIt(CryptoException.ILLEGAL_VALUE);
        }
        StoredEcKey other = (StoredEcKey) ecKey;
        other.domain().require(PARAMETERS);
        boolean isOwn = begin();
        addParameters(other.curve());
        commit(isOwn);
    }
}
