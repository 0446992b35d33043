package sampling;

import javacard.framework.JCSystem;

/** The mean of the last values. */
final class Average implements Filter {
    private final short[] values;
    /** Next place, how many there are, and their sum in two halves. */
    private final short[] state = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_RESET);

    Average(byte length) {
        values = JCSystem.makeTransientShortArray(length, JCSystem.CLEAR_ON_RESET);
    }

    public short apply(short value) {
        values[state[0]] = value;
        state[0] = (short) ((state[0] + 1) % values.length);
        if (state[1] < values.length) {
            state[1]++;
        }
        int sum = 0;
        for (short at = 0; at < state[1]; at++) {
            sum += values[at];
        }
        return (short) (sum / state[1]);
    }

    public void reset() {
        state[0] = 0;
        state[1] = 0;
    }
}
