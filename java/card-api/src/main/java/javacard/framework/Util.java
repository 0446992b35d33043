package javacard.framework;

/** Arrays of bytes as a whole, and shorts in them. The most significant byte comes first. */
public class Util {
    private Util() {
    }

    /**
     * Copies bytes, all or none where the destination is on flash.
     *
     * @param src the array to copy from
     * @param srcOff its first element
     * @param dest the array to copy to; it may be the same
     * @param destOff the first element there
     * @param length how many
     * @return the element after the last
     * @throws TransactionException {@link TransactionException#BUFFER_FULL}, where the card cannot do that
     *     many at once
     */
    public static final native short arrayCopy(byte[] src, short srcOff, byte[] dest, short destOff, short length)
            throws ArrayIndexOutOfBoundsException, NullPointerException, TransactionException;

    /**
     * Copies bytes past an open transaction. A cut of the power may leave some.
     *
     * @param src the array to copy from
     * @param srcOff its first element
     * @param dest the array to copy to; it may be the same
     * @param destOff the first element there
     * @param length how many
     * @return the element after the last
     */
    public static final native short arrayCopyNonAtomic(
            byte[] src, short srcOff, byte[] dest, short destOff, short length)
            throws ArrayIndexOutOfBoundsException, NullPointerException;

    /**
     * Fills a range, on flash all of it or nothing; in an open transaction, as it ends.
     *
     * @param bArray the array
     * @param bOff its first element
     * @param bLen how many
     * @param bValue what they become
     * @return the element after the last
     * @throws TransactionException if the transaction has no room
     */
    public static final short arrayFill(byte[] bArray, short bOff, short bLen, byte bValue)
            throws ArrayIndexOutOfBoundsException, NullPointerException, TransactionException {
        // Throws for a wrong range before anything is changed.
        arrayCompare(bArray, bOff, bArray, bOff, bLen);
        if (JCSystem.isTransient(bArray) != JCSystem.NOT_A_TRANSIENT_OBJECT || bLen == 0) {
            return arrayFillNonAtomic(bArray, bOff, bLen, bValue);
        }
        boolean isOpen = JCSystem.getTransactionDepth() != 0;
        if (!isOpen) {
            JCSystem.beginTransaction();
        }
        bArray[bOff] = bValue;
        for (short filled = 1; filled < bLen; filled += filled) {
            short more = filled < (short) (bLen - filled) ? filled : (short) (bLen - filled);
            arrayCopy(bArray, bOff, bArray, (short) (bOff + filled), more);
        }
        if (!isOpen) {
            JCSystem.commitTransaction();
        }
        return (short) (bOff + bLen);
    }

    /**
     * Fills a range past an open transaction. A cut of the power may leave some.
     *
     * @param bArray the array
     * @param bOff its first element
     * @param bLen how many
     * @param bValue what they become
     * @return the element after the last
     */
    public static final native short arrayFillNonAtomic(byte[] bArray, short bOff, short bLen, byte bValue)
            throws ArrayIndexOutOfBoundsException, NullPointerException;

    /**
     * Compares bytes, as numbers from 0 to 255, from the first on.
     *
     * @param src an array
     * @param srcOff its first element
     * @param dest another, or the same
     * @param destOff the first element there
     * @param length how many
     * @return -1, 0 or 1, for less, equal and greater
     */
    public static final native byte arrayCompare(byte[] src, short srcOff, byte[] dest, short destOff, short length)
            throws ArrayIndexOutOfBoundsException, NullPointerException;

    /**
     * Puts two bytes together.
     *
     * @param b1 the most significant
     * @param b2 the other
     * @return the short
     */
    public static final native short makeShort(byte b1, byte b2);

    /**
     * Reads a short.
     *
     * @param bArray the array
     * @param bOff where it starts
     * @return the short
     */
    public static final native short getShort(byte[] bArray, short bOff)
            throws NullPointerException, ArrayIndexOutOfBoundsException;

    /**
     * Writes a short, whole or not at all.
     *
     * @param bArray the array
     * @param bOff where it starts
     * @param sValue the short
     * @return the element after it
     */
    public static final native short setShort(byte[] bArray, short bOff, short sValue)
            throws TransactionException, NullPointerException, ArrayIndexOutOfBoundsException;
}
