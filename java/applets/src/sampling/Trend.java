package sampling;

import javacard.framework.JCSystem;

/** Where values go: the slope of the line that is nearest to the last sixteen of them. */
final class Trend {
    private static final short ROOM = 16;

    private final short[] values = JCSystem.makeTransientShortArray(ROOM, JCSystem.CLEAR_ON_RESET);
    private final short[] state = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_RESET);

    void add(short value) {
        values[state[0]] = value;
        state[0] = (short) ((state[0] + 1) % ROOM);
        if (state[1] < ROOM) {
            state[1]++;
        }
    }

    /** In sixteenths a value. */
    short slope() {
        short count = state[1];
        if (count < 3) {
            return 0;
        }
        short first = count < ROOM ? 0 : state[0];
        int sum = 0;
        int product = 0;
        int squares = 0;
        for (short at = 0; at < count; at++) {
            short place = (short) ((first + at) % ROOM);
            int distance = 2 * at - (count - 1);
            sum += values[place];
            product += distance * values[place];
            squares += distance * distance;
        }
        return squares == 0 ? 0 : (short) ((product << 5) / squares);
    }

    /** The value that is to be expected after so many more. */
    short forecast(short steps) {
        short newest = (short) ((state[0] + ROOM - 1) % ROOM);
        return Numbers.clamped(values[newest] + (slope() * steps >> 4), (short) -16000, (short) 16000);
    }
}
