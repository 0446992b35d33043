package dev.norn.sas.store.transaction;

import dev.norn.sas.Store;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.store.heap.Allocator;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.TransactionSlot;

/** The generations of pages, for tests that cannot wait until enough objects were freed. */
public final class Generations {
    /** The last one that a page gives out. */
    public static final int LAST = Format.RETIRED - 1;

    private Generations() {}

    private static long descriptor(Store store, long reference) {
        Range range = store.attached().containerOf(reference);
        return range.descriptor(range.pageOf(Format.offsetOf(reference)));
    }

    public static long reference(Object persistent) {
        return ((SasObject) persistent).$sas$reference();
    }

    /** The first word of the object, as it is stored. */
    public static long header(Object persistent) {
        return Memory.getLong(Format.offsetOf(reference(persistent)));
    }

    public static long offset(long reference) {
        return Format.offsetOf(reference);
    }

    public static int of(Store store, long reference) {
        return Memory.getInt(descriptor(store, reference) + Format.DESCRIPTOR_GENERATION);
    }

    /** Lets the object's page have given out all before this one. */
    public static void set(Store store, long reference, int generation) {
        Memory.putInt(descriptor(store, reference) + Format.DESCRIPTOR_GENERATION, generation);
    }

    public static boolean isRetired(Store store, long reference) {
        return of(store, reference) >= Format.RETIRED;
    }

    /**
     * Frees an object, is cut off before that is marked as done, lets others run, and frees again, as recovery does.
     */
    public static void freeTwice(Store store, Object object, Runnable between) {
        long reference = reference(object);
        Range range = store.attached().containerOf(reference);
        TransactionSlot slot = store.attached().slots().claim();
        slot.begin(slot.index);
        Memory.putLong(slot.append(Format.ENTRY_FREE, Format.offsetOf(reference), Allocator.CONTENT_BYTES),
                Memory.getLong(Format.offsetOf(reference)));
        slot.publish(Allocator.CONTENT_BYTES);
        Allocator.discard(range, Format.offsetOf(reference));
        between.run();
        store.attached().allocator().free(slot, range, slot.first());
        store.attached().slots().release(slot);
    }

    public static boolean isOnSamePage(long a, long b) {
        return Format.offsetOf(a) >> Format.PAGE_BITS == Format.offsetOf(b) >> Format.PAGE_BITS;
    }
}
