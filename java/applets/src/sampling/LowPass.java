package sampling;

import javacard.framework.JCSystem;

/** A share of each value joins what was there before. */
final class LowPass implements Filter {
    private final byte shift;
    private final short[] kept = JCSystem.makeTransientShortArray((short) 2, JCSystem.CLEAR_ON_RESET);

    LowPass(byte shift) {
        this.shift = shift;
    }

    public short apply(short value) {
        if (kept[1] == 0) {
            kept[1] = 1;
            kept[0] = value;
        }
        kept[0] += (short) (value - kept[0] >> shift);
        return kept[0];
    }

    public void reset() {
        kept[1] = 0;
    }
}
