package dev.norn.sas.store.transaction;

import dev.norn.sas.Store;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;

/** What descriptors of pages say in the pool, for tests of what is looked at there instead of at objects. */
public final class PageWords {
    private PageWords() {}

    /** The fewest granules for which the object's page is known to have no room; 0 if that is not known. */
    public static int lacks(Store store, Object persistent) {
        return Memory.getInt(word(store, persistent));
    }

    /** Says so of a page that may have room. */
    public static void setLacks(Store store, Object persistent, int granules) {
        Memory.putInt(word(store, persistent), granules);
    }

    private static long word(Store store, Object persistent) {
        long reference = Generations.reference(persistent);
        Range range = store.attached().containerOf(reference);
        return range.descriptor(range.pageOf(Format.offsetOf(reference))) + Format.DESCRIPTOR_LACKS;
    }
}
