package javacardx.framework.math;

/** Decimal digits, two a byte. */
final class Digits {
    private Digits() {
    }

    /** The number of two digits. */
    static int pair(byte digits) {
        return (digits >> 4 & 0x0F) * 10 + (digits & 0x0F);
    }

    /** Whether all digits of a range are at most 9. */
    static boolean areDecimal(byte[] array, short offset, short length) {
        for (short at = 0; at < length; at++) {
            byte digits = array[offset + at];
            if ((digits >> 4 & 0x0F) > 9 || (digits & 0x0F) > 9) {
                return false;
            }
        }
        return true;
    }

    /** Throws the runtime's own ArithmeticException, so that nothing is programmed on flash. */
    static void refuse() {
        int none = 0;
        none /= none;
    }
}
