package javacardx.framework.math;

import javacard.framework.JCSystem;
import javacard.framework.Util;

/**
 * A number without sign of up to 128 bytes, on flash. Each operation changes it whole or not at all; in an open
 * transaction, as it ends. RAM: two bytes for each of the number's.
 */
public final class BigNumber {
    /** Two decimal digits a byte, the most significant first. */
    public static final byte FORMAT_BCD = 1;

    /** The number's bytes, the most significant first. */
    public static final byte FORMAT_HEX = 2;

    private static final short BYTES_MAX = 128;

    private final byte[] value;
    private final byte[] maximum;
    /** An operand, and a result after it. */
    private final byte[] work;

    /**
     * Creates the number 0.
     *
     * @param maxBytes its bytes at most, 1 to {@link #getMaxBytesSupported}
     * @throws ArithmeticException for others
     */
    public BigNumber(short maxBytes) {
        if (maxBytes < 1 || maxBytes > BYTES_MAX) {
            Digits.refuse();
        }
        value = new byte[maxBytes];
        maximum = new byte[maxBytes];
        Util.arrayFillNonAtomic(maximum, (short) 0, maxBytes, (byte) 0xFF);
        work = JCSystem.makeTransientByteArray((short) (2 * maxBytes), JCSystem.CLEAR_ON_RESET);
    }

    /**
     * Returns how long numbers may be.
     *
     * @return bytes, 128
     */
    public static short getMaxBytesSupported() {
        return BYTES_MAX;
    }

    /**
     * Sets the greatest value that the number may have.
     *
     * @param maxValue where that value is
     * @param bOff where it starts
     * @param bLen its bytes
     * @param arrayFormat {@link #FORMAT_BCD} or {@link #FORMAT_HEX}
     * @throws ArithmeticException for no bytes, another format, what is no decimal, more bytes than the number may
     *     have, or less than the number is
     */
    public void setMaximum(byte[] maxValue, short bOff, short bLen, byte arrayFormat) {
        read(maxValue, bOff, bLen, arrayFormat);
        if (Util.arrayCompare(value, (short) 0, work, (short) 0, bytes()) > 0) {
            Digits.refuse();
        }
        Util.arrayCopy(work, (short) 0, maximum, (short) 0, bytes());
    }

    /**
     * Sets the number.
     *
     * @param bArray where its value is
     * @param bOff where it starts
     * @param bLen its bytes
     * @param arrayFormat {@link #FORMAT_BCD} or {@link #FORMAT_HEX}
     * @throws ArithmeticException for no bytes, another format, what is no decimal, or more than the greatest value
     */
    public void init(byte[] bArray, short bOff, short bLen, byte arrayFormat)
            throws NullPointerException, ArrayIndexOutOfBoundsException, ArithmeticException {
        read(bArray, bOff, bLen, arrayFormat);
        Util.arrayCopyNonAtomic(work, (short) 0, work, bytes(), bytes());
        keepResult();
    }

    /**
     * Adds another number.
     *
     * @param bArray where it is
     * @param bOff where it starts
     * @param bLen its bytes
     * @param arrayFormat {@link #FORMAT_BCD} or {@link #FORMAT_HEX}
     * @throws ArithmeticException as {@link #init}, for the number or the sum
     */
    public void add(byte[] bArray, short bOff, short bLen, byte arrayFormat)
            throws NullPointerException, ArrayIndexOutOfBoundsException, ArithmeticException {
        read(bArray, bOff, bLen, arrayFormat);
        int carry = 0;
        for (short at = (short) (bytes() - 1); at >= 0; at--) {
            carry += (value[at] & 0xFF) + (work[at] & 0xFF);
            work[bytes() + at] = (byte) carry;
            carry >>= 8;
        }
        if (carry != 0) {
            Digits.refuse();
        }
        keepResult();
    }

    /**
     * Subtracts another number.
     *
     * @param bArray where it is
     * @param bOff where it starts
     * @param bLen its bytes
     * @param arrayFormat {@link #FORMAT_BCD} or {@link #FORMAT_HEX}
     * @throws ArithmeticException as {@link #init}, and where the other number is greater
     */
    public void subtract(byte[] bArray, short bOff, short bLen, byte arrayFormat) throws ArithmeticException {
        read(bArray, bOff, bLen, arrayFormat);
        int borrow = 0;
        for (short at = (short) (bytes() - 1); at >= 0; at--) {
            borrow += (value[at] & 0xFF) - (work[at] & 0xFF);
            work[bytes() + at] = (byte) borrow;
            borrow >>= 8;
        }
        if (borrow != 0) {
            Digits.refuse();
        }
        keepResult();
    }

    /**
     * Multiplies by another number. It takes a step for each pair of their bytes.
     *
     * @param bArray where it is
     * @param bOff where it starts
     * @param bLen its bytes
     * @param arrayFormat {@link #FORMAT_BCD} or {@link #FORMAT_HEX}
     * @throws ArithmeticException as {@link #init}, for the number or the product
     */
    public void multiply(byte[] bArray, short bOff, short bLen, byte arrayFormat) throws ArithmeticException {
        read(bArray, bOff, bLen, arrayFormat);
        short bytes = bytes();
        Util.arrayFillNonAtomic(work, bytes, bytes, (byte) 0);
        for (short place = 0; place < bytes; place++) {
            int factor = work[bytes - 1 - place] & 0xFF;
            if (factor != 0) {
                addMultiple(factor, place);
            }
        }
        keepResult();
    }

    /** Adds a multiple of the number, moved up by some bytes, to the result. */
    private void addMultiple(int factor, short place) {
        short bytes = bytes();
        int carry = 0;
        for (short at = (short) (bytes - 1); at >= 0; at--) {
            carry += factor * (value[at] & 0xFF);
            int to = at - place;
            // What is above the highest byte stays in the carry.
            if (to >= 0) {
                carry += work[bytes + to] & 0xFF;
                work[bytes + to] = (byte) carry;
                carry >>= 8;
            }
        }
        if (carry != 0) {
            Digits.refuse();
        }
    }

    /**
     * Compares with another one.
     *
     * @param operand the other
     * @return -1, 0 or 1: this is less, both are the same, this is greater
     */
    public byte compareTo(BigNumber operand) {
        short common = bytes();
        short other = operand.bytes();
        short more = (short) (common - other);
        if (more > 0 && !isZero(value, (short) 0, more)) {
            return 1;
        }
        if (more < 0 && !isZero(operand.value, (short) 0, (short) -more)) {
            return -1;
        }
        return more > 0 ? Util.arrayCompare(value, more, operand.value, (short) 0, other)
                : Util.arrayCompare(value, (short) 0, operand.value, (short) -more, common);
    }

    /**
     * Compares with another number.
     *
     * @param bArray where it is
     * @param bOff where it starts
     * @param bLen its bytes
     * @param arrayFormat {@link #FORMAT_BCD} or {@link #FORMAT_HEX}
     * @return as {@link #compareTo(BigNumber)}
     * @throws ArithmeticException for no bytes, another format, or what is no decimal
     */
    public byte compareTo(byte[] bArray, short bOff, short bLen, byte arrayFormat) {
        if (!fits(bArray, bOff, bLen, arrayFormat)) {
            return -1;
        }
        return Util.arrayCompare(value, (short) 0, work, (short) 0, bytes());
    }

    /**
     * Writes the number, with zeros before it.
     *
     * @param outBuf where to
     * @param bOff where it starts there
     * @param numBytes bytes to write
     * @param arrayFormat {@link #FORMAT_BCD} or {@link #FORMAT_HEX}
     * @throws ArithmeticException for fewer bytes than {@link #getByteLength}, or another format
     */
    public void toBytes(byte[] outBuf, short bOff, short numBytes, byte arrayFormat)
            throws ArrayIndexOutOfBoundsException, NullPointerException {
        Util.arrayCompare(outBuf, bOff, outBuf, bOff, numBytes);
        if (numBytes < getByteLength(arrayFormat)) {
            Digits.refuse();
        }
        short bytes = bytes();
        if (arrayFormat == FORMAT_BCD) {
            Util.arrayCopyNonAtomic(value, (short) 0, work, (short) 0, bytes);
            for (int at = numBytes - 1; at >= 0; at--) {
                int digits = divide();
                outBuf[bOff + at] = (byte) (digits / 10 << 4 | digits % 10);
            }
            return;
        }
        for (short at = 0; at < numBytes; at++) {
            int from = bytes - numBytes + at;
            outBuf[bOff + at] = from < 0 ? 0 : value[from];
        }
    }

    /**
     * Returns how many bytes the number takes.
     *
     * @param arrayFormat {@link #FORMAT_BCD} or {@link #FORMAT_HEX}
     * @return bytes, at least 1
     * @throws ArithmeticException for another format
     */
    public short getByteLength(byte arrayFormat) {
        checkFormat(arrayFormat);
        short bytes = bytes();
        if (arrayFormat == FORMAT_BCD) {
            Util.arrayCopyNonAtomic(value, (short) 0, work, (short) 0, bytes);
            short pairs = 0;
            do {
                divide();
                pairs++;
            } while (!isZero(work, (short) 0, bytes));
            return pairs;
        }
        short first = 0;
        while (first < (short) (bytes - 1) && value[first] == 0) {
            first++;
        }
        return (short) (bytes - first);
    }

    /** Sets the number to 0. */
    public void reset() {
        Util.arrayFillNonAtomic(work, (short) 0, (short) work.length, (byte) 0);
        keepResult();
    }

    private short bytes() {
        return (short) value.length;
    }

    /** Takes an operand; refuses one that the number has no bytes for. */
    private void read(byte[] array, short offset, short length, byte format) {
        if (!fits(array, offset, length, format)) {
            Digits.refuse();
        }
    }

    /** Takes an operand, with zeros before it; false where it has more bytes. */
    private boolean fits(byte[] array, short offset, short length, byte format) {
        Util.arrayCompare(array, offset, array, offset, length);
        checkFormat(format);
        if (length == 0 || format == FORMAT_BCD && !Digits.areDecimal(array, offset, length)) {
            Digits.refuse();
        }
        short bytes = bytes();
        Util.arrayFillNonAtomic(work, (short) 0, bytes, (byte) 0);
        for (short at = 0; at < length; at++) {
            boolean isDecimal = format == FORMAT_BCD;
            int next = isDecimal ? Digits.pair(array[offset + at]) : array[offset + at] & 0xFF;
            if (!shift(isDecimal ? 100 : 256, next)) {
                return false;
            }
        }
        return true;
    }

    /** Multiplies the operand by 100 or 256, and adds a number; false where it does not fit. */
    private boolean shift(int factor, int next) {
        for (short at = (short) (bytes() - 1); at >= 0; at--) {
            next += factor * (work[at] & 0xFF);
            work[at] = (byte) next;
            next >>= 8;
        }
        return next == 0;
    }

    /** Divides the operand by 100, and returns what is left. */
    private int divide() {
        int rest = 0;
        for (short at = 0; at < bytes(); at++) {
            rest = rest << 8 | work[at] & 0xFF;
            work[at] = (byte) (rest / 100);
            rest %= 100;
        }
        return rest;
    }

    private void keepResult() {
        if (Util.arrayCompare(work, bytes(), maximum, (short) 0, bytes()) > 0) {
            Digits.refuse();
        }
        Util.arrayCopy(work, bytes(), value, (short) 0, bytes());
    }

    private static boolean isZero(byte[] array, short first, short count) {
        for (short at = first; at < (short) (first + count); at++) {
            if (array[at] != 0) {
                return false;
            }
        }
        return true;
    }

    private static void checkFormat(byte format) {
        if (format != FORMAT_BCD && format != FORMAT_HEX) {
            Digits.refuse();
        }
    }
}
