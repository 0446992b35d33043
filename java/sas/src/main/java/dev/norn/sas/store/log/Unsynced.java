package dev.norn.sas.store.log;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.memory.Memory;

/**
 * Locks are released as soon as a transaction's record has its place in the log, before it is durable. So that no call
 * returns data that may still be lost, a reader of an object waits until the log is durable up to here: the end of the
 * highest record that changed an object with the same hash. Objects that share a word wait for each other's records,
 * which costs a sync at most.
 *
 * <p>The words are in shared memory and grow only. A record's end is put here before the first of its locks is
 * released.
 */
public final class Unsynced {
    /** How many words the table has. */
    public static final int WORDS = 1 << UNSYNCED_BITS;

    private Unsynced() {}

    private static long word(long offset) {
        return UNSYNCED + (offset / GRANULE_BYTES * 0x9E3779B97F4A7C15L >>> 64 - UNSYNCED_BITS) * 8;
    }

    /**
     * Up to where the log has to be durable before any caller gets the object's values. To be called while the object
     * is locked, or after it was read without a lock.
     */
    public static long of(long offset) {
        return Memory.getVolatile(word(offset));
    }

    /** Says that a record that ends here changes the object. */
    public static void mark(long offset, long end) {
        raise(word(offset), end);
    }

    /**
     * Says it of every object. Costs a visit to each word, which is less than one to each of many objects' words.
     */
    public static void markAll(long end) {
        for (int i = 0; i < WORDS; i++) {
            raise(UNSYNCED + i * 8L, end);
        }
    }

    private static void raise(long word, long end) {
        long value = Memory.getVolatile(word);
        while (value < end && !Memory.compareAndSet(word, value, end)) {
            value = Memory.getVolatile(word);
        }
    }
}
