package sampling;

import javacard.framework.JCSystem;

/** Neighbours that were heard, and how well; the best one takes frames on. */
final class Routes {
    private static final byte ROOM = 6;
    static final byte EVERYONE = -1;

    private final byte[] neighbours = JCSystem.makeTransientByteArray(ROOM, JCSystem.CLEAR_ON_RESET);
    private final short[] qualities = JCSystem.makeTransientShortArray(ROOM, JCSystem.CLEAR_ON_RESET);

    private byte find(byte neighbour) {
        for (byte at = 0; at < ROOM; at++) {
            if (neighbours[at] == neighbour) {
                return at;
            }
        }
        return -1;
    }

    void heard(byte neighbour, short quality) {
        byte place = find(neighbour);
        if (place < 0) {
            place = 0;
            for (byte at = 1; at < ROOM; at++) {
                if (qualities[at] < qualities[place]) {
                    place = at;
                }
            }
            neighbours[place] = neighbour;
            qualities[place] = 0;
        }
        qualities[place] += (short) ((quality << 6) - qualities[place] >> 2);
    }

    /** What is not heard again becomes worse. */
    void age() {
        for (byte at = 0; at < ROOM; at++) {
            qualities[at] -= (short) (qualities[at] >> 4);
        }
    }

    void failed(byte neighbour) {
        byte place = find(neighbour);
        if (place >= 0) {
            qualities[place] >>= 1;
        }
    }

    byte best() {
        byte best = 0;
        for (byte at = 1; at < ROOM; at++) {
            if (qualities[at] > qualities[best]) {
                best = at;
            }
        }
        return qualities[best] == 0 ? EVERYONE : neighbours[best];
    }
}
