package javacardx.framework.util;

import javacard.framework.JCSystem;
import javacard.framework.SystemException;
import javacard.framework.TransactionException;
import javacard.framework.Util;

/**
 * Arrays of bytes, shorts or ints. Bytes compare without a sign, as in {@link Util#arrayCompare}; shorts and ints with
 * one.
 */
public final class ArrayLogic {
    // Bytes of an element.
    private static final byte BYTE = 1;
    private static final byte SHORT = 2;
    private static final byte INT = 4;

    ArrayLogic() {
    }

    /**
     * Copies elements; where their types differ, so that the bytes are the same, the most significant first. All or
     * none where the destination is on flash.
     *
     * @param src the array to copy from
     * @param srcOff its first element
     * @param srcLen how many of its elements
     * @param dest the array to copy to; it may be the same
     * @param destOff the first element there
     * @return the element after the last one there
     * @throws TransactionException if the open transaction has no room
     * @throws UtilException {@link UtilException#ILLEGAL_VALUE} for other objects, and elements that do not fill
     *     whole ones there
     */
    public static final short arrayCopyRepack(Object src, short srcOff, short srcLen, Object dest, short destOff)
            throws ArrayIndexOutOfBoundsException, NullPointerException, TransactionException, UtilException {
        short end = end(src, srcOff, srcLen, dest, destOff);
        if (src instanceof byte[] && dest instanceof byte[]) {
            return Util.arrayCopy((byte[]) src, srcOff, (byte[]) dest, destOff, srcLen);
        }
        boolean isOwn = begin(dest);
        copy(src, srcOff, dest, destOff, end, false);
        commit(isOwn);
        return end;
    }

    /**
     * Copies elements as {@link #arrayCopyRepack}, past an open transaction. A cut of the power may leave some.
     *
     * @param src the array to copy from
     * @param srcOff its first element
     * @param srcLen how many of its elements
     * @param dest the array to copy to; it may be the same
     * @param destOff the first element there
     * @return the element after the last one there
     * @throws UtilException as there
     */
    public static final short arrayCopyRepackNonAtomic(
            Object src, short srcOff, short srcLen, Object dest, short destOff)
            throws ArrayIndexOutOfBoundsException, NullPointerException, UtilException, SystemException {
        short end = end(src, srcOff, srcLen, dest, destOff);
        if (src instanceof byte[] && dest instanceof byte[]) {
            return Util.arrayCopyNonAtomic((byte[]) src, srcOff, (byte[]) dest, destOff, srcLen);
        }
        copy(src, srcOff, dest, destOff, end, true);
        return end;
    }

    /**
     * Fills a range, on flash all of it or nothing; in an open transaction, as it ends.
     *
     * @param theArray the array
     * @param off its first element
     * @param len how many
     * @param valArray an array of the same type with what they become
     * @param valOff where in it
     * @return the element after the last
     * @throws TransactionException if the open transaction has no room
     * @throws UtilException {@link UtilException#ILLEGAL_VALUE} for other objects,
     *     {@link UtilException#TYPE_MISMATCHED} for two types
     */
    public static final short arrayFillGeneric(Object theArray, short off, short len, Object valArray, short valOff)
            throws ArrayIndexOutOfBoundsException, NullPointerException, UtilException, TransactionException {
        int value = fillValue(theArray, off, len, valArray, valOff);
        if (theArray instanceof byte[]) {
            return Util.arrayFill((byte[]) theArray, off, len, (byte) value);
        }
        boolean isOwn = begin(theArray);
        for (short at = 0; at < len; at++) {
            set(theArray, (short) (off + at), value);
        }
        commit(isOwn);
        return (short) (off + len);
    }

    /**
     * Fills a range past an open transaction. A cut of the power may leave some.
     *
     * @param theArray the array
     * @param off its first element
     * @param len how many
     * @param valArray an array of the same type with what they become
     * @param valOff where in it
     * @return the element after the last
     * @throws UtilException as {@link #arrayFillGeneric}
     */
    public static final short arrayFillGenericNonAtomic(
            Object theArray, short off, short len, Object valArray, short valOff)
            throws ArrayIndexOutOfBoundsException, NullPointerException, UtilException, SystemException {
        int value = fillValue(theArray, off, len, valArray, valOff);
        if (theArray instanceof byte[]) {
            return Util.arrayFillNonAtomic((byte[]) theArray, off, len, (byte) value);
        }
        for (short at = 0; at < len; at++) {
            setAtOnce(theArray, (short) (off + at), value);
        }
        return (short) (off + len);
    }

    /**
     * Compares ranges of arrays of the same type.
     *
     * @param src the one
     * @param srcOff its first element
     * @param dest the other
     * @param destOff its first element
     * @param length how many
     * @return -1, 0 or 1: the first that differ are less, there are none, they are greater
     * @throws UtilException {@link UtilException#ILLEGAL_VALUE} for other objects,
     *     {@link UtilException#TYPE_MISMATCHED} for two types
     */
    public static final byte arrayCompareGeneric(Object src, short srcOff, Object dest, short destOff, short length)
            throws ArrayIndexOutOfBoundsException, NullPointerException, UtilException {
        byte width = requireSame(src, dest);
        require(src, srcOff, length);
        require(dest, destOff, length);
        if (width == BYTE) {
            return Util.arrayCompare((byte[]) src, srcOff, (byte[]) dest, destOff, length);
        }
        for (short at = 0; at < length; at++) {
            int one = get(src, (short) (srcOff + at));
            int other = get(dest, (short) (destOff + at));
            if (one != other) {
                return (byte) (one < other ? -1 : 1);
            }
        }
        return 0;
    }

    /**
     * Finds the first element with a value.
     *
     * @param theArray where to look
     * @param off from which element on
     * @param valArray the bytes of the value, as many as an element has, the most significant first
     * @param valOff where they start
     * @return the element, or -1
     * @throws UtilException {@link UtilException#ILLEGAL_VALUE} for other objects
     */
    public static final short arrayFindGeneric(Object theArray, short off, byte[] valArray, short valOff)
            throws ArrayIndexOutOfBoundsException, NullPointerException, UtilException {
        byte width = width(theArray);
        short length = length(theArray);
        require(valArray, valOff, width);
        require(theArray, off, (short) 0);
        int value = valArray[valOff];
        for (short at = 1; at < width; at++) {
            value = value << 8 | valArray[(short) (valOff + at)] & 0xFF;
        }
        for (short at = off; at < length; at++) {
            if (get(theArray, at) == value) {
                return at;
            }
        }
        return -1;
    }

    /** Where a copy ends in its destination; throws before anything is changed. */
    private static short end(Object src, short srcOff, short srcLen, Object dest, short destOff) {
        byte from = width(src);
        byte to = width(dest);
        require(src, srcOff, srcLen);
        short bytes = (short) (srcLen * from % to);
        if (bytes != 0) {
            UtilException.throwIt(UtilException.ILLEGAL_VALUE);
        }
        int count = srcLen * from / to;
        if (count > length(dest)) {
            count = (short) (length(dest) + 1);
        }
        require(dest, destOff, (short) count);
        return (short) (destOff + count);
    }

    private static void copy(Object src, short srcOff, Object dest, short destOff, short end, boolean isAtOnce) {
        byte from = width(src);
        byte to = width(dest);
        short count = (short) (end - destOff);
        // Within an array, what is still to be read is read first.
        boolean isUpwards = src != dest || srcOff >= destOff;
        for (short done = 0; done < count; done++) {
            short at = isUpwards ? done : (short) (count - 1 - done);
            int value;
            if (from >= to) {
                short parts = (short) (from / to);
                value = get(src, (short) (srcOff + at / parts));
                value >>= (short) (8 * to * (parts - 1 - at % parts));
            } else {
                short parts = (short) (to / from);
                short first = (short) (srcOff + at * parts);
                value = get(src, first);
                for (short part = 1; part < parts; part++) {
                    int next = get(src, (short) (first + part));
                    value = value << (8 * from) | next & (from == BYTE ? 0xFF : 0xFFFF);
                }
            }
            if (isAtOnce) {
                setAtOnce(dest, (short) (destOff + at), value);
            } else {
                set(dest, (short) (destOff + at), value);
            }
        }
    }

    private static int fillValue(Object theArray, short off, short len, Object valArray, short valOff) {
        requireSame(theArray, valArray);
        require(theArray, off, len);
        return get(valArray, valOff);
    }

    private static byte requireSame(Object one, Object other) {
        byte width = width(one);
        if (width(other) != width) {
            UtilException.throwIt(UtilException.TYPE_MISMATCHED);
        }
        return width;
    }

    /** Throws where a range is not in an array. */
    private static void require(Object array, short first, short count) {
        if (first < 0 || count < 0 || first > length(array) - count) {
            get(array, (short) -1);
        }
    }

    private static byte width(Object array) {
        if (array instanceof byte[]) {
            return BYTE;
        }
        if (array instanceof short[]) {
            return SHORT;
        }
        if (!(array instanceof int[])) {
            if (array == null) {
                get(null, (short) 0);
            }
            UtilException.throwIt(UtilException.ILLEGAL_VALUE);
        }
        return INT;
    }

    private static short length(Object array) {
        return (short) (array instanceof byte[] ? ((byte[]) array).length
                : array instanceof short[] ? ((short[]) array).length : ((int[]) array).length);
    }

    private static int get(Object array, short at) {
        return array instanceof byte[] ? ((byte[]) array)[at]
                : array instanceof short[] ? ((short[]) array)[at] : ((int[]) array)[at];
    }

    private static void set(Object array, short at, int value) {
        if (array instanceof byte[]) {
            ((byte[]) array)[at] = (byte) value;
        } else if (array instanceof short[]) {
            ((short[]) array)[at] = (short) value;
        } else {
            ((int[]) array)[at] = value;
        }
    }

    /** Sets an element, which stays whatever becomes of an open transaction. */
    private static native void setAtOnce(Object array, short at, int value);

    private static boolean begin(Object dest) {
        boolean isOwn = JCSystem.isTransient(dest) == JCSystem.NOT_A_TRANSIENT_OBJECT
                && JCSystem.getTransactionDepth() == 0;
        if (isOwn) {
            JCSystem.beginTransaction();
        }
        return isOwn;
    }

    private static void commit(boolean isOwn) {
        if (isOwn) {
            JCSystem.commitTransaction();
        }
    }
}
