package sampling;

/** Numbers without floating point. */
final class Numbers {
    private Numbers() {
    }

    /** The square root, rounded down. */
    static short root(int square) {
        int result = 0;
        int bit = 1 << 28;
        while (bit > square) {
            bit >>= 2;
        }
        while (bit != 0) {
            if (square >= result + bit) {
                square -= result + bit;
                result = (result >> 1) + bit;
            } else {
                result >>= 1;
            }
            bit >>= 2;
        }
        return (short) result;
    }

    /** The logarithm to base 2, with four bits after the point. */
    static short logarithm(int value) {
        if (value <= 0) {
            return 0;
        }
        short whole = 0;
        while (value >> whole > 1) {
            whole++;
        }
        int fraction = whole >= 4 ? value >> (whole - 4) : value << (4 - whole);
        return (short) (whole << 4 | fraction & 15);
    }

    static short magnitude(int value) {
        return (short) (value < 0 ? -value : value);
    }

    static short clamped(int value, short least, short most) {
        if (value < least) {
            return least;
        }
        return value > most ? most : (short) value;
    }

    /** Small numbers of either sign as small ones without. */
    static short folded(int value) {
        return (short) (value << 1 ^ value >> 31);
    }
}
