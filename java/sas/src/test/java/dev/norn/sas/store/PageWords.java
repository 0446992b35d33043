package dev.norn.sas.store;

import dev.norn.sas.Store;

/** What descriptors of pages say in the pool, for tests of what is looked at there instead of at objects. */
public final class PageWords {
    private PageWords() {}

    private static long descriptor(Store store, Object persistent) {
        long reference = Generations.reference(persistent);
        Range range = store.pool().containerOf(reference);
        return range.descriptor(range.pageOf(Format.offsetOf(reference)));
    }

    /** A bit for each slot whose transaction makes objects on the object's page. */
    public static long allocating(Store store, Object persistent) {
        return Memory.getVolatile(descriptor(store, persistent) + Format.DESCRIPTOR_ALLOCATING);
    }

    public static void setAllocating(Store store, Object persistent, long slots) {
        Memory.putVolatile(descriptor(store, persistent) + Format.DESCRIPTOR_ALLOCATING, slots);
    }

    /** The fewest granules for which the object's page is known to have no room; 0 if that is not known. */
    public static int lacks(Store store, Object persistent) {
        return Memory.getInt(descriptor(store, persistent) + Format.DESCRIPTOR_LACKS);
    }

    /** A bit for the last slot, which these tests' transactions do not get. */
    public static long otherSlot() {
        return 1L << Format.SLOTS_MAX - 1;
    }

    /**
     * Makes the object's lock word that of one which a transaction of another slot has just made; returns what it was.
     */
    public static long lockAsNew(Object persistent) {
        long word = Format.offsetOf(Generations.reference(persistent)) + Format.OBJECT_LOCK;
        long before = Memory.getVolatile(word);
        Memory.putVolatile(word, Locks.EXCLUSIVE | otherSlot());
        return before;
    }

    public static void restoreLock(Object persistent, long word) {
        Memory.putVolatile(Format.offsetOf(Generations.reference(persistent)) + Format.OBJECT_LOCK, word);
    }
}
