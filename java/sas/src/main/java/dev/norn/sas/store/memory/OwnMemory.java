package dev.norn.sas.store.memory;

import dev.norn.sas.exception.SASException;
import java.util.ArrayDeque;

/**
 * Memory of this JVM alone, which has offsets like the pool, so that whoever reads objects by their offsets reads
 * copies there. One who needs some takes it piece by piece, and gives all of it back at once. Belongs to a thread.
 *
 * <p>Pieces come from segments of 16 MB, which all threads of the JVM share out among themselves.
 */
public final class OwnMemory {
    private static final long SEGMENT_BYTES = 16L << 20;
    /** Up to so many bytes of a segment keep their storage for the next one who takes it. */
    private static final long KEPT_BYTES = 1L << 20;
    private static final ArrayDeque<Long> FREE = new ArrayDeque<>();
    private static long unused = Memory.OWN;

    private final ArrayDeque<Long> segments = new ArrayDeque<>();
    private long next;
    private long end;

    /** The longest piece. */
    public static long pieceBytesMax() {
        return SEGMENT_BYTES;
    }

    private static synchronized long segment() {
        if (!FREE.isEmpty()) {
            return FREE.pop();
        }
        if (unused + SEGMENT_BYTES > Memory.OWN + Memory.OWN_BYTES) {
            throw new SASException("the read-only transactions of this JVM have read more than " + Memory.OWN_BYTES
                    + " bytes: end some of them");
        }
        long segment = unused;
        unused += SEGMENT_BYTES;
        return segment;
    }

    private static synchronized void give(long segment) {
        FREE.push(segment);
    }

    /** The offset of so many bytes, a multiple of 8. Nothing is known of what they have. */
    public long take(long bytes) {
        long rounded = bytes + 7 & ~7L;
        if (next + rounded > end) {
            next = segment();
            end = next + SEGMENT_BYTES;
            segments.push(next);
        }
        long piece = next;
        next += rounded;
        return piece;
    }

    /** Gives the piece that was taken last back, except for its first bytes. */
    public void keepFirst(long piece, long bytes) {
        next = piece + (bytes + 7 & ~7L);
    }

    /** Gives all back. */
    public void clear() {
        boolean isLast = true;
        for (long segment : segments) {
            long used = isLast ? next - segment : SEGMENT_BYTES;
            if (used > KEPT_BYTES) {
                Memory.forgetOwn(segment + KEPT_BYTES, SEGMENT_BYTES - KEPT_BYTES);
            }
            isLast = false;
            give(segment);
        }
        segments.clear();
        next = 0;
        end = 0;
    }
}
