package sampling;

import javacard.framework.Util;

/** Summaries on flash, the newest in place of the oldest. */
final class History {
    private static final short BYTES = 6;
    private static final short ROOM = 20;
    private static final short LEAST = (short) 0x8000;

    private final byte[] summaries = new byte[BYTES * ROOM];
    private short next;
    private short count;

    /** Keeps a summary: time, mean, and the range in steps of four. */
    void keep(short time, short mean, short least, short most) {
        short at = (short) (next * BYTES);
        Util.setShort(summaries, at, time);
        Util.setShort(summaries, (short) (at + 2), mean);
        summaries[at + 4] = (byte) Numbers.clamped(mean - least >> 2, (short) 0, (short) 127);
        summaries[at + 5] = (byte) Numbers.clamped(most - mean >> 2, (short) 0, (short) 127);
        next = (short) ((next + 1) % ROOM);
        if (count < ROOM) {
            count++;
        }
    }

    /** Copies the summaries that are not older than a time, the newest first; returns their bytes. */
    short copy(short from, byte[] to, short offset, short room) {
        short end = offset;
        short place = next;
        for (short seen = 0; seen < count && end + BYTES <= offset + room; seen++) {
            place = (short) ((place + ROOM - 1) % ROOM);
            short at = (short) (place * BYTES);
            if ((short) (Util.getShort(summaries, at) - from) < 0) {
                break;
            }
            end = Util.arrayCopyNonAtomic(summaries, at, to, end, BYTES);
        }
        return (short) (end - offset);
    }

    /** The highest mean, or 0 where there is none. */
    short warmest() {
        short warmest = count == 0 ? 0 : LEAST;
        for (short at = 0; at < count; at++) {
            short mean = Util.getShort(summaries, (short) (at * BYTES + 2));
            if (mean > warmest) {
                warmest = mean;
            }
        }
        return warmest;
    }
}
