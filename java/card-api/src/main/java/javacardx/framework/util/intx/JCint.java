package javacardx.framework.util.intx;

import javacard.framework.JCSystem;
import javacard.framework.SystemException;
import javacard.framework.TransactionException;
import javacard.framework.Util;

/** Ints in arrays of bytes, the most significant byte first. A card's bytecode has ints in any case. */
public final class JCint {
    private JCint() {
    }

    /**
     * Joins bytes.
     *
     * @param b1 the most significant
     * @param b2 the next
     * @param b3 the next
     * @param b4 the least significant
     * @return the int
     */
    public static final int makeInt(byte b1, byte b2, byte b3, byte b4) {
        return b1 << 24 | (b2 & 0xFF) << 16 | (b3 & 0xFF) << 8 | b4 & 0xFF;
    }

    /**
     * Joins shorts.
     *
     * @param s1 the more significant
     * @param s2 the less significant
     * @return the int
     */
    public static final int makeInt(short s1, short s2) {
        return s1 << 16 | s2 & 0xFFFF;
    }

    /**
     * Reads an int.
     *
     * @param bArray where it is
     * @param bOff from where on
     * @return the int
     */
    public static final int getInt(byte[] bArray, short bOff)
            throws NullPointerException, ArrayIndexOutOfBoundsException {
        short low = Util.getShort(bArray, (short) (bOff + 2));
        return makeInt(Util.getShort(bArray, bOff), low);
    }

    /**
     * Writes an int, all of it or nothing.
     *
     * @param bArray where to
     * @param bOff from where on
     * @param iValue the int
     * @return the place behind it
     * @throws TransactionException if the open transaction has no room
     */
    public static final short setInt(byte[] bArray, short bOff, int iValue)
            throws TransactionException, NullPointerException, ArrayIndexOutOfBoundsException {
        // Nothing is written where the end is outside.
        Util.getShort(bArray, (short) (bOff + 2));
        boolean isOpen = JCSystem.getTransactionDepth() != 0 || JCSystem.isTransient(bArray) != 0;
        if (!isOpen) {
            JCSystem.beginTransaction();
        }
        Util.setShort(bArray, bOff, (short) (iValue >> 16));
        short end = Util.setShort(bArray, (short) (bOff + 2), (short) iValue);
        if (!isOpen) {
            JCSystem.commitTransaction();
        }
        return end;
    }

    /**
     * Makes an array of ints in RAM.
     *
     * @param length its elements
     * @param event {@link JCSystem#CLEAR_ON_RESET} or {@link JCSystem#CLEAR_ON_DESELECT}
     * @return the array
     * @throws SystemException as {@link JCSystem#makeTransientByteArray}
     */
    public static native int[] makeTransientIntArray(short length, byte event)
            throws NegativeArraySizeException, SystemException;
}
