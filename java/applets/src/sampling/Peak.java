package sampling;

import javacard.framework.JCSystem;

/** Finds where values have risen and fall again. */
final class Peak extends Detector {
    private final short height;
    /** Highest and lowest value since the last peak. */
    private final short[] range = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_RESET);

    Peak(short height) {
        this.height = height;
    }

    boolean finds(short value) {
        if (value > range[0]) {
            range[0] = value;
        }
        if (value < range[1]) {
            range[1] = value;
        }
        if (range[0] - range[1] < height || range[0] - value < height / 2) {
            return false;
        }
        range[0] = value;
        range[1] = value;
        return true;
    }
}
