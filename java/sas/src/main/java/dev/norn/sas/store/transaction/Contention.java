package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

/**
 * Which objects are better locked exclusively at once, though they are only read at first. Two transactions that have
 * read an object and both want to change it wait for each other, and one has to be undone: so an object at which that
 * has happened is taken exclusively by the next transactions of this JVM that use it, some of them, and by the one that
 * runs again in any case.
 */
final class Contention {
    private static final int BITS = 12;
    static final int PLACES = 1 << BITS;
    /** How many uses an object is taken exclusively for, after a conflict. One more conflict begins them again. */
    private static final byte USES = 100;
    /** The objects at which the transaction that runs now has met conflicts in its former attempts. */
    private final OffsetTable own = new OffsetTable();
    private boolean hasOwn;
    /** By a hash of the offset, how many uses are left, for all threads. Updates that are lost do no harm. */
    private final byte[] left;

    Contention(Locks locks) {
        left = locks.contended;
    }

    private static int place(long reference) {
        return (int) (offsetOf(reference) / GRANULE_BYTES * 0x9E3779B97F4A7C15L >>> 64 - BITS);
    }

    /** Notes that a transaction that had read the object could not change it. */
    void note(long reference) {
        own.put(reference, 1);
        hasOwn = true;
        left[place(reference)] = USES;
    }

    /** Whether the object is to be locked exclusively for its first use. */
    boolean isExpected(long reference) {
        if (hasOwn && own.get(reference) != 0) {
            return true;
        }
        int place = place(reference);
        byte uses = left[place];
        if (uses == 0) {
            return false;
        }
        left[place] = (byte) (uses - 1);
        return true;
    }

    /**
     * A transaction that took the object exclusively has only read it: those that read it are not kept apart further.
     */
    void wasNotChanged(long reference) {
        left[place(reference)] = 0;
    }

    /** Another transaction begins. */
    void forget() {
        if (hasOwn) {
            own.clear();
            hasOwn = false;
        }
    }
}
