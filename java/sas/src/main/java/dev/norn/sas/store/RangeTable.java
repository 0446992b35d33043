package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import java.util.Arrays;

/** The containers that this JVM has met, by number and by address. */
final class RangeTable {
    private static final int GROWTH = 8;

    private final Pool pool;
    private volatile Range[] ranges = new Range[GROWTH];
    private final Range[] rangesByUnit = new Range[(int) (Memory.SPACE >> CONTAINER_ALIGNMENT_BITS)];

    RangeTable(Pool pool) {
        this.pool = pool;
    }

    /** Makes a range known in this JVM. */
    synchronized Range add(Range range) {
        Range[] all = ranges;
        if (all.length <= range.id) {
            all = Arrays.copyOf(all, range.id + GROWTH);
        }
        all[range.id] = range;
        range.noteDamage();
        for (long at = range.base; at < range.base + Range.span(range.pagesMax); at += 1L << CONTAINER_ALIGNMENT_BITS) {
            rangesByUnit[(int) (at >> CONTAINER_ALIGNMENT_BITS)] = range;
        }
        ranges = all;
        return range;
    }

    /** Forgets all: the pool is made anew. */
    synchronized void clear() {
        ranges = new Range[GROWTH];
        Arrays.fill(rangesByUnit, null);
    }

    /** The making of the container that begins here was undone. */
    synchronized void forget(long base) {
        Range known = rangesByUnit[(int) (base >> CONTAINER_ALIGNMENT_BITS)];
        if (known == null) {
            return;
        }
        for (int i = 0; i < rangesByUnit.length; i++) {
            rangesByUnit[i] = rangesByUnit[i] == known ? null : rangesByUnit[i];
        }
        Range[] all = ranges.clone();
        all[known.id] = all[known.id] == known ? null : all[known.id];
        ranges = all;
    }

    /** The container with this number; null if this JVM has not met it. */
    Range ofNumber(int id) {
        return id < ranges.length ? ranges[id] : null;
    }

    /** All that it has met, by their numbers; null between them. */
    Range[] all() {
        return ranges;
    }

    /** The container that holds the offset. */
    Range of(long offset) {
        Range range = find(offset);
        if (range == null) {
            throw new dev.norn.sas.ObjectDestroyed("no container is at " + Long.toHexString(offset));
        }
        return range;
    }

    /** The same; null if none does. */
    Range find(long offset) {
        Range range = rangesByUnit[(int) (offset >> CONTAINER_ALIGNMENT_BITS)];
        return range != null || offset < CONTAINERS ? range : Directory.findRange(pool, offset);
    }
}
