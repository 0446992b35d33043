package dev.norn.sas.store;

import dev.norn.sas.Store;
import dev.norn.sas.runtime.Session;
import java.lang.reflect.Field;

/** Transactions' slots, for tests that cannot wait until they are in a rare state. */
public final class SlotState {
    private SlotState() {}

    /** Leaves the calling thread's transaction room for so many bytes of undo entries. */
    public static void leaveUndo(long bytes) throws ReflectiveOperationException {
        Field field = Work.class.getDeclaredField("slot");
        field.setAccessible(true);
        Slot slot = (Slot) field.get(Session.get().work());
        // An entry that is marked as done, whose content nobody looks at, and which needs no storage.
        int length = (int) (Format.UNDO_BYTES - slot.tail() - bytes) - Format.ENTRY_HEADER_BYTES;
        Memory.putLong(slot.head + Format.SLOT_BACKED, Format.UNDO_BYTES);
        slot.append(0, 0, length);
        slot.publish(length);
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
