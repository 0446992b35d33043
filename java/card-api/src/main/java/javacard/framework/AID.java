package javacard.framework;

/** The identifier of an applet or a package: 5 to 16 bytes, of which the first 5 are its owner's. */
public class AID {
    private static final byte LENGTH_MIN = 5;
    private static final byte LENGTH_MAX = 16;

    private final byte[] bytes;

    /**
     * Creates one.
     *
     * @param bArray where its bytes are
     * @param offset where they start
     * @param length how many they are, 5 to 16
     * @throws SystemException {@link SystemException#ILLEGAL_VALUE} for another length
     */
    public AID(byte[] bArray, short offset, byte length)
            throws SystemException, NullPointerException, ArrayIndexOutOfBoundsException, SecurityException {
        if (length < LENGTH_MIN || length > LENGTH_MAX) {
            SystemException.throwIt(SystemException.ILLEGAL_VALUE);
        }
        bytes = new byte[length];
        Util.arrayCopyNonAtomic(bArray, offset, bytes, (short) 0, length);
    }

    /**
     * Copies all bytes.
     *
     * @param dest where to
     * @param offset where they start there
     * @return how many they are
     */
    public final native byte getBytes(byte[] dest, short offset);

    /**
     * Says whether another object is an AID of the same bytes.
     *
     * @param anObject the object, or null
     * @return whether it is
     */
    public final native boolean equals(Object anObject);

    /**
     * Says whether an array has the same bytes, and no more.
     *
     * @param bArray the array, or null
     * @param offset where they start
     * @param length how many they are
     * @return whether it has
     */
    public final native boolean equals(byte[] bArray, short offset, byte length);

    /**
     * Says whether this AID starts with the bytes of an array.
     *
     * @param bArray the array, or null
     * @param offset where they start
     * @param length how many they are
     * @return whether it does
     */
    public final native boolean partialEquals(byte[] bArray, short offset, byte length);

    /**
     * Says whether another AID has the same owner.
     *
     * @param otherAID the other, or null
     * @return whether it has
     */
    public final native boolean RIDEquals(AID otherAID);

    /**
     * Copies some bytes.
     *
     * @param aidOffset the first of them
     * @param dest where to
     * @param oOffset where they start there
     * @param oLength how many at most; 0 for all that follow
     * @return how many they are
     */
    public final native byte getPartialBytes(short aidOffset, byte[] dest, short oOffset, byte oLength);
}
