package sampling;

import javacard.framework.JCSystem;

/** The last values that were not sent yet; the oldest goes where there is no room. */
final class Samples {
    private final short[] values;
    private final short[] state = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_RESET);

    Samples(short room) {
        values = JCSystem.makeTransientShortArray(room, JCSystem.CLEAR_ON_RESET);
    }

    short count() {
        return state[1];
    }

    void add(short value) {
        if (state[1] == values.length) {
            drop((short) 1);
        }
        values[(short) ((state[0] + state[1]) % values.length)] = value;
        state[1]++;
    }

    short get(short number) {
        return values[(short) ((state[0] + number) % values.length)];
    }

    void drop(short number) {
        state[0] = (short) ((state[0] + number) % values.length);
        state[1] -= number;
    }
}
