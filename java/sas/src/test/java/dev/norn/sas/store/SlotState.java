package dev.norn.sas.store;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

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
            Pool pool = store.pool();
            lock = NativeFile.open(pool.directory.resolve("lock"), READ, WRITE);
            long number = pool.incarnation() + attachment;
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
        var method = RedoLog.class.getDeclaredMethod("trySync", Slot.class, long.class);
        method.setAccessible(true);
        Slot slot = store.pool().slots().claim();
        try {
            method.invoke(store.pool().log(), slot, Memory.getVolatile(Format.LOG_TAIL));
        } finally {
            store.pool().slots().release(slot);
        }
    }

    /**
     * Replays one operation, which changes nothing, into the file of an object's container.
     *
     * @return what was done with the file: for each write whether it was one of descriptors, and null for each sync
     */
    public static java.util.List<Boolean> replayInto(Store store, Object object) throws Exception {
        Pool pool = store.pool();
        long offset = Format.offsetOf(((SasObject) object).$sas$reference());
        Range range = pool.containerOf(((SasObject) object).$sas$reference());
        FaultyLog file = new FaultyLog(NativeFile.open(pool.directory.resolve(range.name + ".container"), READ, WRITE));
        try (Replay replay = new Replay(pool)) {
            Field channel = null;
            for (Object its : files(replay)) {
                channel = its.getClass().getDeclaredField("channel");
                channel.setAccessible(true);
                Field itsRange = its.getClass().getDeclaredField("range");
                itsRange.setAccessible(true);
                if (((Range) itsRange.get(its)).base == range.base) {
                    channel.set(its, file);
                }
            }
            java.nio.ByteBuffer operation = java.nio.ByteBuffer.allocate(24).order(java.nio.ByteOrder.LITTLE_ENDIAN);
            Replay.begin(operation, Replay.RANGE, offset + Format.OBJECT_HEADER_BYTES, 8);
            replay.apply(operation.putLong(Memory.getLong(offset + Format.OBJECT_HEADER_BYTES)).flip());
            replay.finish();
        }
        java.util.List<Boolean> done = new java.util.ArrayList<>();
        long objects = range.pageOffset(0) - range.base;
        file.trace().forEach(place -> done.add(place < 0 ? null : Boolean.valueOf(place < objects)));
        return done;
    }

    private static java.util.Collection<?> files(Replay replay) throws ReflectiveOperationException {
        Field files = Replay.class.getDeclaredField("files");
        files.setAccessible(true);
        return ((java.util.Map<?, ?>) files.get(replay)).values();
    }

    /** Up to where the log is said to be durable, counted back from its end. */
    public static long unsynced() {
        return Memory.getVolatile(Format.LOG_TAIL) - Memory.getVolatile(Format.LOG_SYNCED);
    }

    /** Does all of it. */
    public static void recover(Store store) {
        store.pool().attachments().alone(store.pool().recovery()::reapAlone);
    }
}
