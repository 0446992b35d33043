package sampling;

import javacard.framework.JCSystem;

/** The middle one of the last three values. */
final class Median implements Filter {
    private final short[] last = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_RESET);

    public short apply(short value) {
        short older = last[0];
        short newer = last[1];
        last[0] = newer;
        last[1] = value;
        return middle(older, newer, value);
    }

    private static short middle(short one, short two, short three) {
        if (one > two) {
            return middle(two, one, three);
        }
        if (three <= one) {
            return one;
        }
        return three < two ? three : two;
    }

    public void reset() {
        last[0] = 0;
        last[1] = 0;
    }
}
