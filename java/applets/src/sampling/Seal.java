package sampling;

import javacardx.framework.util.intx.JCint;
import javacard.framework.JCSystem;

/** A code of four bytes that proves who has sent a frame: CBC-MAC by XTEA, of which eight rounds are left. */
final class Seal {
    private static final byte ROUNDS = 8;
    private static final int DELTA = 0x9E3779B9;

    private final int[] key = new int[4];
    private final int[] block = JCint.makeTransientIntArray((short) 2, JCSystem.CLEAR_ON_RESET);

    Seal(byte address) {
        int word = 0x2545F491 ^ address;
        for (byte at = 0; at < 4; at++) {
            word ^= word << 13;
            word ^= word >>> 17;
            word ^= word << 5;
            key[at] = word;
        }
    }

    private void encrypt() {
        int left = block[0];
        int right = block[1];
        int sum = 0;
        for (byte round = 0; round < ROUNDS; round++) {
            left += (right << 4 ^ right >>> 5) + right ^ sum + key[sum & 3];
            sum += DELTA;
            right += (left << 4 ^ left >>> 5) + left ^ sum + key[sum >>> 11 & 3];
        }
        block[0] = left;
        block[1] = right;
    }

    /** The code of a range. */
    int of(byte[] array, short offset, short length) {
        block[0] = length;
        block[1] = 0;
        byte filled = 4;
        for (short at = offset; at < (short) (offset + length); at++) {
            int shift = 8 * (3 - filled % 4);
            block[filled / 4] ^= (array[at] & 0xFF) << shift;
            filled++;
            if (filled == 8) {
                encrypt();
                filled = 0;
            }
        }
        if (filled != 0) {
            encrypt();
        }
        return block[0];
    }
}
