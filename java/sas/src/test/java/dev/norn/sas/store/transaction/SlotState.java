package dev.norn.sas.store.transaction;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.norn.sas.Store;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.store.heap.Allocator;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.log.RedoLog;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Latch;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.NativeFile;
import dev.norn.sas.store.memory.TransactionSlot;
import java.lang.reflect.Field;

/** Transactions' slots, for tests that cannot wait until they are in a rare state. */
public final class SlotState {
    private SlotState() {}

    /** Leaves the calling thread's transaction room for {@code bytes} bytes of undo entries. */
    public static void leaveUndo(long bytes) throws ReflectiveOperationException {
        TransactionSlot slot = slot();
        // An entry that is marked as done, whose content is never read, and which needs no storage.
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
        TransactionSlot slot = slot();
        Range range = Store.current().attached().containerOf(((SasObject) near).$sas$reference());
        long page = range.pageOf(Format.offsetOf(((SasObject) near).$sas$reference()));
        long descriptor = range.descriptor(page);
        slot.reserve(Allocator.CONTENT_BYTES);
        Latch.hold(slot, descriptor + Format.DESCRIPTOR_LATCH, () -> {
            long offset = range.pageOffset(page)
                    + (long) Memory.getInt(descriptor + Format.DESCRIPTOR_FREE_END) * Format.GRANULE_BYTES;
            long header = Format.header(Memory.getInt(descriptor + Format.DESCRIPTOR_GENERATION), Format.CLASS_USER, 1);
            Memory.putLong(slot.append(Format.ENTRY_ALLOCATION, offset, Allocator.CONTENT_BYTES), header);
            slot.publish(Allocator.CONTENT_BYTES);
            System.out.println(Long.toHexString(offset));
            Runtime.getRuntime().halt(9);
            return 0;
        });
    }

    private static TransactionSlot slot() throws ReflectiveOperationException {
        Field field = StoreTransaction.class.getDeclaredField("slot");
        field.setAccessible(true);
        return (TransactionSlot) field.get(Session.get().transaction());
    }

    /** Does the first part of recovery, in which latches are freed and records decided upon. */
    public static void freeLatches(Store store) {
        store.attached().pages().attachments().alone(store.attached().recovery()::freeLatches);
    }

    /** Undoes what the lost have left, and is cut off after the release of their locks. */
    public static void undoUpToRelease(Store store) {
        AttachedStore attached = store.attached();
        attached.pages().attachments().alone(() -> {
            for (int i = 0; i < Format.SLOTS_MAX; i++) {
                if (attached.recovery().isLost(i)) {
                    attached.recovery().undo(new TransactionSlot(attached.pages(), i));
                }
            }
        });
    }

    /** How many slots wait for an object's lock. */
    public static int waiting(Store store) {
        int count = 0;
        for (int i = 0; i < Format.SLOTS_MAX; i++) {
            count += Memory.getVolatile(Format.slotHead(i) + Format.SLOT_WAITS_FOR) != 0 ? 1 : 0;
        }
        return count;
    }

    /**
     * Another process, as the shared memory and the lock file show it: it lives until it is closed. It has the slot
     * with this number.
     */
    public static final class OtherProcess implements AutoCloseable {
        private final NativeFile lock;
        private final long head;
        private final int slot;

        public OtherProcess(Store store, int slot, int attachment) throws java.io.IOException {
            AttachedStore attached = store.attached();
            lock = NativeFile.open(attached.pages().directory.resolve("lock"), READ, WRITE);
            long number = attached.incarnation() + attachment;
            lock.tryLock((1L << 32) + number);
            head = Format.slotHead(slot);
            this.slot = slot;
            Memory.putLong(head + Format.SLOT_TAIL, 0);
            Memory.putLong(head + Format.SLOT_STATE, Format.STATE_FREE);
            Memory.putVolatile(head + Format.SLOT_OWNER, number);
        }

        /** Is in a sync of the log. */
        public void syncs() {
            Memory.putVolatile(Format.SYNC_LATCH, slot + 1);
        }

        /** Has appended a record that counts, and has not released its locks. */
        public void hasAppended() {
            Memory.putLong(head + Format.SLOT_RECORD, Memory.getVolatile(Format.LOG_TAIL));
            Memory.putLong(head + Format.SLOT_RECORD_END, Memory.getVolatile(Format.LOG_TAIL));
            Memory.putVolatile(head + Format.SLOT_STATE, Format.STATE_COMMITTING);
        }

        @Override
        public void close() throws java.io.IOException {
            lock.close();
        }
    }

    /**
     * Syncs the log as a thread does that has asked whether the store takes changes, and was stopped before it took the
     * latch.
     */
    public static void syncLate(Store store) throws ReflectiveOperationException {
        var method = RedoLog.class.getDeclaredMethod("trySync", TransactionSlot.class, long.class);
        method.setAccessible(true);
        TransactionSlot slot = store.attached().slots().claim();
        try {
            method.invoke(store.attached().log(), slot, Memory.getVolatile(Format.LOG_TAIL));
        } finally {
            store.attached().slots().release(slot);
        }
    }

    /** Checkpoints since the pool was made. */
    public static long checkpoints() {
        return Memory.getVolatile(Format.CHECKPOINT_COUNT);
    }

    /** Up to where the log is said to be durable, counted back from its end. */
    public static long unsynced() {
        return Memory.getVolatile(Format.LOG_TAIL) - Memory.getVolatile(Format.LOG_SYNCED);
    }

    /** Does all of it. */
    public static void recover(Store store) {
        store.attached().pages().attachments().alone(store.attached().recovery()::reapAlone);
    }
}
