package javacard.security;

/** A checksum. */
public abstract class Checksum {
    /**
     * CRC-16, 2 bytes: the polynomial 1021, bits from the most significant one on, inverted at the end. It starts
     * with 0; with FFFF, its inverse is that of CCITT.
     */
    public static final byte ALG_ISO3309_CRC16 = 1;

    /**
     * CRC-32, 4 bytes: the polynomial 04C11DB7, bits from the least significant one on, reversed and inverted at the
     * end. It starts with 0; with FFFFFFFF, it is that of Ethernet and ZIP.
     */
    public static final byte ALG_ISO3309_CRC32 = 2;

    /** For the classes that carry it out. */
    protected Checksum() {
    }

    /**
     * Makes one.
     *
     * @param algorithm an ALG
     * @param externalAccess whether other applets use it
     * @return the object, whose checksum starts with 0
     * @throws CryptoException {@link CryptoException#NO_SUCH_ALGORITHM} for others
     */
    public static final Checksum getInstance(byte algorithm, boolean externalAccess) throws CryptoException {
        return new Crc(algorithm);
    }

    /**
     * Sets what the checksum starts with.
     *
     * @param bArray where it is
     * @param bOff where it starts
     * @param bLen its bytes
     */
    public abstract void init(byte[] bArray, short bOff, short bLen) throws CryptoException;

    /**
     * Returns the algorithm.
     *
     * @return what {@link #getInstance} was given
     */
    public abstract byte getAlgorithm();

    /**
     * Takes the last data, writes the checksum and begins again.
     *
     * @param inBuff where the data are
     * @param inOffset where they start
     * @param inLength how many they are
     * @param outBuff where the checksum comes
     * @param outOffset where it starts there
     * @return its bytes
     */
    public abstract short doFinal(byte[] inBuff, short inOffset, short inLength, byte[] outBuff, short outOffset);

    /**
     * Takes data.
     *
     * @param inBuff where they are
     * @param inOffset where they start
     * @param inLength how many they are
     */
    public abstract void update(byte[] inBuff, short inOffset, short inLength);
}
