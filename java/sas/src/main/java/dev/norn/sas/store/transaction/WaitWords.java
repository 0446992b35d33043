package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.memory.Backoff;
import dev.norn.sas.store.memory.Memory;

/**
 * Notifications of those who wait for persistent objects, across processes: words in shared memory that count them, an
 * object's word by its address. Objects that share a word wake each other's waiters, which have to look again anyway.
 * Nothing is registered, so a process that dies leaves nothing.
 */
public final class WaitWords {
    private WaitWords() {}

    private static long word(long reference) {
        long hash = offsetOf(reference) / GRANULE_BYTES * 0x9E3779B97F4A7C15L;
        return NOTICES + (hash >>> 64 - NOTICES_BITS) * 8;
    }

    /** Notifications so far, to be asked for while the object is locked. */
    public static long count(long reference) {
        return Memory.getVolatile(word(reference));
    }

    /** Notifies everybody who waits for the object. */
    public static void give(long reference) {
        long word = word(reference);
        for (long count = Memory.getVolatile(word); !Memory.compareAndSet(word, count, count + 1);
                count = Memory.getVolatile(word)) {
            Thread.onSpinWait();
        }
    }

    /**
     * Waits until there are others than {@code seen}. Looks again and again: at first without sleeping, then each
     * millisecond.
     *
     * @param handle whose Java monitor is given up meanwhile, if the thread has it because it is in a synchronized
     *     method
     * @param nanos how long at most; 0 for no limit
     */
    public static void await(AttachedStore store, Object handle, long reference, long seen, long nanos)
            throws InterruptedException {
        long start = System.nanoTime();
        for (int spins = 0; count(reference) == seen; spins++) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            store.requireOpen();
            if (nanos > 0 && System.nanoTime() - start >= nanos) {
                return;
            }
            if (Thread.holdsLock(handle)) {
                handle.wait(1);
            } else {
                Backoff.pause(spins);
            }
        }
    }
}
