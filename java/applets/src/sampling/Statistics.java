package sampling;

import javacard.framework.JCSystem;
import javacardx.framework.util.intx.JCint;

/** What values since the last report were. */
final class Statistics {
    private final short[] range = JCSystem.makeTransientShortArray((short) 3, JCSystem.CLEAR_ON_RESET);
    /** Sum of the values, and of their squares in sixteenths. */
    private final int[] sums = JCint.makeTransientIntArray((short) 2, JCSystem.CLEAR_ON_RESET);

    void reset() {
        range[2] = 0;
        sums[0] = 0;
        sums[1] = 0;
    }

    void add(short value) {
        if (range[2] == 0 || value < range[0]) {
            range[0] = value;
        }
        if (range[2] == 0 || value > range[1]) {
            range[1] = value;
        }
        range[2]++;
        sums[0] += value;
        sums[1] += value * value >> 4;
    }

    /** Least, most, and how many. */
    short range(short which) {
        return range[which];
    }

    short mean() {
        return range[2] == 0 ? 0 : (short) (sums[0] / range[2]);
    }

    short deviation() {
        if (range[2] == 0) {
            return 0;
        }
        int square = sums[1] / range[2] - (mean() * mean() >> 4);
        return (short) (Numbers.root(square < 0 ? 0 : square) << 2);
    }
}
