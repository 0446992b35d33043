package dev.norn.sas.store;

import dev.norn.sas.Store;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.runtime.Session;
import java.lang.reflect.Field;

/** Transactions' slots, for tests that cannot wait until they are in a rare state. */
public final class SlotState {
    private SlotState() {}

    /** Leaves the calling thread's transaction room for so many bytes of undo entries. */
    public static void leaveUndo(long bytes) throws ReflectiveOperationException {
        Slot slot = slot();
        // An entry that is marked as done, whose content nobody looks at, and which needs no storage.
        int length = (int) (Format.UNDO_BYTES - slot.tail() - bytes) - Format.ENTRY_HEADER_BYTES;
        Memory.putLong(slot.head + Format.SLOT_BACKED, Format.UNDO_BYTES);
        slot.append(0, 0, length);
        slot.publish(length);
    }

    /**
     * Ends the program in the middle of an allocation on this object's page: the undo entry is there, the object is
     * not. Says where it would be.
     */
    public static void dieAllocating(Object near) throws ReflectiveOperationException {
        Slot slot = slot();
        Range range = slot.pool.containerOf(((SasObject) near).$sas$reference());
        long page = range.pageOf(Format.offsetOf(((SasObject) near).$sas$reference()));
        long descriptor = range.descriptor(page);
        slot.reserve(Heap.CONTENT_BYTES);
        Latch.hold(slot, descriptor + Format.DESCRIPTOR_LATCH, () -> {
            long offset = range.pageOffset(page) + (long) Memory.getInt(descriptor + Format.DESCRIPTOR_PAGE_CHECK) * Format.GRANULE_BYTES;
            long header = Format.header(Memory.getInt(descriptor + Format.DESCRIPTOR_GENERATION), Format.CLASS_USER, 1);
            Memory.putLong(slot.append(Format.ENTRY_ALLOCATION, offset, Heap.CONTENT_BYTES), header);
            slot.publish(Heap.CONTENT_BYTES);
            System.out.println(Long.toHexString(offset));
            Runtime.getRuntime().halt(9);
            return 0;
        });
    }

    private static Slot slot() throws ReflectiveOperationException {
        Field field = Work.class.getDeclaredField("slot");
        field.setAccessible(true);
        return (Slot) field.get(Session.get().work());
    }

    /** Does the first part of recovery, in which latches are freed and records decided upon. */
    public static void freeLatches(Store store) {
        store.pool().attachments().alone(store.pool().recovery()::freeLatches);
    }

    /** Undoes what the lost have left, and is cut off behind the release of their locks. */
    public static void undoUpToRelease(Store store) {
        Pool pool = store.pool();
        pool.attachments().alone(() -> {
            for (int i = 0; i < Format.SLOTS_MAX; i++) {
                if (pool.recovery().isLost(i)) {
                    pool.recovery().undo(new Slot(pool, i));
                }
            }
        });
    }

    /** Does all of it. */
    public static void recover(Store store) {
        store.pool().attachments().alone(store.pool().recovery()::reapAlone);
    }
}
