package dev.norn.sas.store.heap;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.PagePool;
import java.util.Arrays;
import java.util.function.LongConsumer;

/** The containers that this JVM has met, by number and by address. */
public final class RangeTable {
    private static final int GROWTH = 8;

    private final PagePool pool;
    private final LongConsumer quiet;
    private volatile Range[] ranges = new Range[GROWTH];
    private final Range[] rangesByUnit = new Range[(int) (Memory.SPACE >> CONTAINER_ALIGNMENT_BITS)];

    /** @param quiet returns when no transaction writes the object with a reference */
    public RangeTable(PagePool pool, LongConsumer quiet) {
        this.pool = pool;
        this.quiet = quiet;
    }

    PagePool pool() {
        return pool;
    }

    /** Waits until no transaction writes the object. */
    void awaitQuiet(long reference) {
        quiet.accept(reference);
    }

    /** Makes a range known in this JVM. */
    public synchronized Range add(Range range) {
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

    /** Makes a range known in this JVM that may be known already. */
    public synchronized void meet(Range range) {
        Range known = ofNumber(range.id);
        if (known == null || known.base != range.base || known.pagesMax != range.pagesMax) {
            add(range);
        }
    }

    /** Forgets all: the pool is made anew. */
    public synchronized void clear() {
        ranges = new Range[GROWTH];
        Arrays.fill(rangesByUnit, null);
    }

    /** The making of the container that begins here was undone. */
    public synchronized void forget(long base) {
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
    public Range ofNumber(int id) {
        return id < ranges.length ? ranges[id] : null;
    }

    /** All that it has met, by their numbers; null between them. */
    public Range[] all() {
        return ranges;
    }

    /** The container that holds the offset. */
    public Range of(long offset) {
        Range range = find(offset);
        if (range == null) {
            throw new ObjectDestroyed("no container is at " + Long.toHexString(offset));
        }
        return range;
    }

    /** The same; null if none does. */
    public Range find(long offset) {
        Range range = rangesByUnit[(int) (offset >> CONTAINER_ALIGNMENT_BITS)];
        return range != null || offset < CONTAINERS ? range : DirectoryReader.findRange(this, offset);
    }

    /** Whether the reference names an object that is there, or one that an open transaction destroys. */
    public boolean isObject(long reference) {
        long offset = offsetOf(reference);
        Range range = find(offset);
        return range != null && range.startsAt(offset)
                && generationOf(Memory.getLong(offset)) == generationOfReference(reference);
    }

    /**
     * Whether nothing was freed on the object's page since the reference was given out. Then an object that was
     * committed is there. Costs a look at the page's descriptor: the object, which may be in no cache, is not read.
     */
    public boolean isOfNewestGeneration(long reference) {
        long offset = offsetOf(reference);
        Range range = find(offset);
        return range != null && range.generation(range.pageOf(offset)) == generationOfReference(reference);
    }

    /** @throws ObjectDestroyed if the reference names no object that is there */
    public void requireObject(long reference) {
        if (!isObject(reference)) {
            throw destroyed(reference);
        }
    }

    public static ObjectDestroyed destroyed(long reference) {
        return new ObjectDestroyed("the object at " + Long.toHexString(offsetOf(reference)) + " with generation "
                + generationOfReference(reference) + " has been destroyed");
    }
}
