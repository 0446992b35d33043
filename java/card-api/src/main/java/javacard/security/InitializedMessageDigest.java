package javacard.security;

/** A hash that can go on from the intermediate hash of data that were hashed elsewhere. */
public abstract class InitializedMessageDigest extends MessageDigest {
    /** For the classes that carry it out. */
    protected InitializedMessageDigest() {
    }

    /**
     * Begins again, after data that were hashed elsewhere.
     *
     * @param initialDigestBuf where their intermediate hash is
     * @param initialDigestOffset where it starts
     * @param initialDigestLength its bytes: 20 or 32
     * @param digestedMsgLenBuf where the number of their bytes is, the most significant first
     * @param digestedMsgLenOffset where it starts
     * @param digestedMsgLenLength bytes of that number, 1 to 8; it is a multiple of 64
     * @throws CryptoException {@link CryptoException#ILLEGAL_VALUE} for another hash or number
     */
    public abstract void setInitialDigest(
            byte[] initialDigestBuf,
            short initialDigestOffset,
            short initialDigestLength,
            byte[] digestedMsgLenBuf,
            short digestedMsgLenOffset,
            short digestedMsgLenLength)
            throws CryptoException;
}
