package sampling;

import javacard.framework.JCSystem;

/** Light and dark by turns: when they began, and how long they were on average. */
final class Day {
    private static final byte UNKNOWN = 0;
    private static final byte LIGHT = 1;
    private static final byte DARK = 2;
    private static final short SURE = 6;

    private final short level;
    private final byte[] phase = JCSystem.makeTransientByteArray((short) 2, JCSystem.CLEAR_ON_RESET);
    /** When the phase began; how long light and dark are on average. */
    private final short[] times = JCSystem.makeTransientShortArray((short) 3, JCSystem.CLEAR_ON_RESET);

    Day(short level) {
        this.level = level;
    }

    /** Looks at a value; true where the light came or went. */
    boolean turns(short value, short now) {
        byte seen = value >= level ? LIGHT : DARK;
        if (seen == phase[0]) {
            phase[1] = 0;
            return false;
        }
        phase[1]++;
        if (phase[1] < SURE) {
            return false;
        }
        if (phase[0] != UNKNOWN) {
            short length = (short) (now - times[0] >> 2 & 0x3FFF);
            short place = phase[0];
            times[place] = times[place] == 0 ? length : (short) (times[place] + (length - times[place] >> 2));
        }
        phase[0] = seen;
        phase[1] = 0;
        times[0] = now;
        return true;
    }

    short average(boolean ofLight) {
        return times[ofLight ? LIGHT : DARK];
    }
}
