package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import dev.norn.sas.SASException;

/**
 * A transaction's place in shared memory: its owner, its state, and the stream of undo entries that says what it locked, changed and
 * allocated.
 *
 * <p>An entry is complete before the stream's tail covers it, and the tail covers it before what it undoes happens. So whoever finds the owner
 * dead can finish or undo the transaction from the slot alone.
 */
final class Slot {
    private static final long BACKING_BYTES = 256 << 10;

    final int index;
    final long head;
    final long stream;
    private final Pool pool;
    private long tail;

    Slot(Pool pool, int index) {
        this.pool = pool;
        this.index = index;
        head = slotHead(index);
        stream = undo(index);
        tail = Memory.getVolatile(head + SLOT_TAIL);
    }

    /** This slot's bit in lock words. */
    long bit() {
        return 1L << index;
    }

    /** What latches that this slot holds contain. */
    long latchValue() {
        return index + 1;
    }

    long state() {
        return Memory.getVolatile(head + SLOT_STATE);
    }

    void state(long state) {
        Memory.putVolatile(head + SLOT_STATE, state);
    }

    long owner() {
        return Memory.getVolatile(head + SLOT_OWNER);
    }

    boolean claim() {
        return owner() == 0 && Memory.compareAndSet(head + SLOT_OWNER, 0, Owner.SELF);
    }

    /** Begins a transaction in a slot that is claimed. */
    void begin(long transaction) {
        tail = 0;
        Memory.putRelease(head + SLOT_TAIL, 0);
        Memory.putRelease(head + SLOT_TRANSACTION, transaction);
        state(STATE_ACTIVE);
    }

    /** Gives the slot back. */
    void release() {
        tail = 0;
        Memory.putRelease(head + SLOT_TAIL, 0);
        state(STATE_FREE);
        Memory.putVolatile(head + SLOT_OWNER, 0);
    }

    long tail() {
        return tail;
    }

    /**
     * Makes room for an entry and fills in its header; {@link #publish} then makes it count.
     *
     * @return the offset of the content, {@code length} bytes
     * @throws SASException if the transaction's stream is full
     */
    long append(int kind, long offset, int length) {
        long bytes = entryBytes(length);
        back(tail + bytes);
        long at = stream + tail;
        Memory.putLong(at, kind | (long) length << 8);
        Memory.putLong(at + 8, offset);
        return at + ENTRY_HEADER_BYTES;
    }

    /** Counts the entry that was appended last. */
    void publish(int length) {
        tail += entryBytes(length);
        Memory.putRelease(head + SLOT_TAIL, tail);
    }

    private void back(long needed) {
        if (needed <= Memory.getLong(head + SLOT_BACKED)) {
            return;
        }
        if (needed > UNDO_BYTES) {
            throw new SASException("the transaction changes more than the " + UNDO_BYTES + " bytes that can be undone: split it");
        }
        long backed = Memory.getLong(head + SLOT_BACKED);
        long target = Math.min(UNDO_BYTES, Math.max(needed, backed + BACKING_BYTES));
        pool.back(stream + backed, target - backed);
        Memory.putRelease(head + SLOT_BACKED, target);
    }

    static long entryBytes(int length) {
        return ENTRY_HEADER_BYTES + (length + 7L & ~7L);
    }

    /** Says of an entry that there is nothing more to do for it. */
    static void markDone(long entry) {
        Memory.putLong(entry, Memory.getLong(entry) & ~0xFFL);
    }

    static int kind(long entry) {
        return (int) (Memory.getLong(entry) & 0xFF);
    }

    static int length(long entry) {
        return (int) (Memory.getLong(entry) >>> 8);
    }

    static long offset(long entry) {
        return Memory.getLong(entry + 8);
    }

    /** The offset of the oldest entry; its content is {@link Format#ENTRY_HEADER_BYTES} behind it. */
    long first() {
        return stream;
    }

    /** Where the entries end. */
    long end() {
        return stream + tail;
    }

    /** The offset of the entry behind this one. */
    static long next(long entry) {
        return entry + entryBytes(length(entry));
    }

    /** Called with each entry's offset, from the newest. Costs a long for each entry. */
    void forEachBackwards(java.util.function.LongConsumer action) {
        var entries = java.util.stream.LongStream.builder();
        for (long entry = first(); entry < end(); entry = next(entry)) {
            entries.add(entry);
        }
        long[] all = entries.build().toArray();
        for (int i = all.length - 1; i >= 0; i--) {
            action.accept(all[i]);
        }
    }

    /** Where the slot says that it has a latch, or is about to take it. Inside the latch of checkpoints, others are taken. */
    private long announcement(long word) {
        return head + (word == CHECKPOINT_LATCH ? SLOT_CHECKPOINT_LATCH : SLOT_LATCH);
    }

    /** Whether a latch is this slot's. */
    boolean has(long word) {
        return word != 0 && Memory.getVolatile(word) == latchValue();
    }

    /** Takes a latch, which is a word that holds 0 or its holder's {@link #latchValue}; a dead holder's latch is freed by recovery. */
    void latch(long word) {
        // The compare-and-set orders it: whoever sees the latch taken sees by whom.
        Memory.putRelease(announcement(word), word);
        int spins = 0;
        while (Memory.getVolatile(word) != 0 || !Memory.compareAndSet(word, 0, latchValue())) {
            spins = pool.pause(spins, word);
        }
    }

    /** Whether the latch could be taken at once. */
    boolean tryLatch(long word) {
        Memory.putRelease(announcement(word), word);
        if (Memory.getVolatile(word) == 0 && Memory.compareAndSet(word, 0, latchValue())) {
            return true;
        }
        Memory.putVolatile(announcement(word), 0);
        return false;
    }

    void unlatch(long word) {
        Memory.putRelease(word, 0);
        Memory.putRelease(announcement(word), 0);
    }
}
