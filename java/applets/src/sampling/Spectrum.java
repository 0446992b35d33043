package sampling;

import javacard.framework.JCSystem;

/** How strong four frequencies are in the last window of values, by Goertzel's filter with 12 bits after the point. */
final class Spectrum {
    private static final short WINDOW = 32;
    /** 2 cos(2 pi k / 32) for the frequencies k. */
    private static final short[] COEFFICIENTS = {8034, 7568, 5793, 1598};

    private final short[] values = JCSystem.makeTransientShortArray(WINDOW, JCSystem.CLEAR_ON_RESET);
    private final short[] state = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_RESET);

    /** Takes a value; true when the window is full and was looked at. */
    boolean takes(short value) {
        values[state[0]] = value;
        state[0]++;
        if (state[0] < WINDOW) {
            return false;
        }
        state[0] = 0;
        short strongest = 0;
        int most = -1;
        for (short at = 0; at < COEFFICIENTS.length; at++) {
            int power = power(COEFFICIENTS[at]);
            if (power > most) {
                most = power;
                strongest = at;
            }
        }
        state[1] = strongest;
        return true;
    }

    short strongest() {
        return state[1];
    }

    private int power(short coefficient) {
        int before = 0;
        int last = 0;
        for (short at = 0; at < WINDOW; at++) {
            int next = (values[at] >> 4) + (coefficient * last >> 12) - before;
            before = last;
            last = next;
        }
        int product = (coefficient * last >> 12) * before;
        return last * last + before * before - product;
    }
}
