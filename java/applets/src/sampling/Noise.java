package sampling;

import javacard.framework.JCSystem;

/** Numbers that look random, from a shift register. */
final class Noise {
    private final short[] register = JCSystem.makeTransientShortArray((short) 1, JCSystem.CLEAR_ON_RESET);

    private short next() {
        short bits = register[0];
        if (bits == 0) {
            bits = 0x1D2B;
        }
        for (byte step = 0; step < 5; step++) {
            boolean isOne = (bits & 1) != 0;
            bits = (short) (bits >> 1 & 0x7FFF);
            if (isOne) {
                bits ^= (short) 0xB400;
            }
        }
        register[0] = bits;
        return bits;
    }

    short below(short limit) {
        return (short) ((next() & 0x7FFF) % limit);
    }
}
