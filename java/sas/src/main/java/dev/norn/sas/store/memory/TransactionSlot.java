package dev.norn.sas.store.memory;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.SASException;

/**
 * A transaction's place in shared memory: its owner, its state, and the stream of undo entries that says what it
 * locked, changed and allocated.
 *
 * <p>An entry is complete before the stream's tail covers it, and the tail covers it before what it undoes happens. So
 * a process that finds the owner dead can finish or undo the transaction from the slot alone.
 */
public final class TransactionSlot {
    private static final long BACKING_BYTES = 256 << 10;
    private static final int ENTRY_LENGTH_SHIFT = 8;
    private static final long ENTRY_LENGTH_MASK = UNDO_BYTES - 1;
    /** In an entry's first word, above kind and length, how many bytes the entry before takes. */
    private static final int BEFORE_SHIFT = 36;
    private static final long UNKNOWN = -1;

    public final int index;
    public final long head;
    final long stream;
    final PagePool pool;
    private long tail;
    private long newest;

    public TransactionSlot(PagePool pool, int index) {
        this.pool = pool;
        this.index = index;
        head = slotHead(index);
        stream = undo(index);
        tail = Memory.getVolatile(head + SLOT_TAIL);
        newest = UNKNOWN;
    }

    /** The pool that the slot is in. */
    public PagePool pool() {
        return pool;
    }

    /** This slot's bit in lock words. */
    public long bit() {
        return 1L << index;
    }

    /** What latches that this slot holds contain. */
    public long latchValue() {
        return index + 1;
    }

    public long state() {
        return Memory.getVolatile(head + SLOT_STATE);
    }

    public void state(long state) {
        Memory.putVolatile(head + SLOT_STATE, state);
    }

    public long owner() {
        return Memory.getVolatile(head + SLOT_OWNER);
    }

    public boolean claim() {
        return owner() == 0 && Memory.compareAndSet(head + SLOT_OWNER, 0, pool.incarnation());
    }

    /** Begins a transaction in a slot that is claimed. */
    public void begin(long transaction) {
        tail = 0;
        newest = 0;
        Memory.putRelease(head + SLOT_TAIL, 0);
        Memory.putRelease(head + SLOT_TRANSACTION, transaction);
        Memory.putRelease(head + SLOT_COUNT, Memory.getLong(head + SLOT_COUNT) + 1);
        state(STATE_ACTIVE);
    }

    /** Gives the slot back. */
    public void release() {
        tail = 0;
        newest = 0;
        Memory.putRelease(head + SLOT_TAIL, 0);
        state(STATE_FREE);
        Memory.putVolatile(head + SLOT_OWNER, 0);
    }

    public long tail() {
        return tail;
    }

    /**
     * Makes room for an entry and fills in its header; {@link #publish} then makes it count.
     *
     * @return the offset of the content, {@code length} bytes
     * @throws SASException if the transaction's stream is full
     */
    public long append(int kind, long offset, int length) {
        reserve(length);
        long at = stream + tail;
        long before = newest() == 0 ? 0 : at - newest;
        Memory.putLong(at, kind | (long) length << ENTRY_LENGTH_SHIFT | before << BEFORE_SHIFT);
        Memory.putLong(at + 8, offset);
        return at + ENTRY_HEADER_BYTES;
    }

    /**
     * Makes room for an entry, which comes before a latch is taken: appending then cannot fail.
     *
     * @throws SASException if the transaction's stream is full
     */
    public void reserve(int length) {
        back(tail + entryBytes(length));
    }

    /** Counts the entry that was appended last. */
    public void publish(int length) {
        newest = stream + tail;
        tail += entryBytes(length);
        Memory.putRelease(head + SLOT_TAIL, tail);
    }

    private void back(long needed) {
        if (needed <= Memory.getLong(head + SLOT_BACKED)) {
            return;
        }
        if (needed > UNDO_BYTES) {
            throw new SASException("the transaction changes more than the " + UNDO_BYTES
                    + " bytes that can be undone: split it");
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
    public static void markDone(long entry) {
        Memory.putLong(entry, Memory.getLong(entry) & ~0xFFL);
    }

    public static int kind(long entry) {
        return (int) (Memory.getLong(entry) & 0xFF);
    }

    public static int length(long entry) {
        return (int) (Memory.getLong(entry) >>> ENTRY_LENGTH_SHIFT & ENTRY_LENGTH_MASK);
    }

    public static long offset(long entry) {
        return Memory.getLong(entry + 8);
    }

    /** The offset of the oldest entry; its content begins {@link Format#ENTRY_HEADER_BYTES} after it. */
    public long first() {
        return stream;
    }

    /** Where the entries end. */
    public long end() {
        return stream + tail;
    }

    /** The offset of the entry after this one. */
    public static long next(long entry) {
        return entry + entryBytes(length(entry));
    }

    /** The offset of the newest entry; 0 if there is none. */
    public long newest() {
        if (newest == UNKNOWN) {
            newest = 0;
            for (long entry = first(); entry < end(); entry = next(entry)) {
                newest = entry;
            }
        }
        return newest;
    }

    /** The offset of the entry before this one; 0 if it is the oldest. */
    public static long before(long entry) {
        long bytes = Memory.getLong(entry) >>> BEFORE_SHIFT;
        return bytes == 0 ? 0 : entry - bytes;
    }

    /** Whether what the slot does can still be undone, so that it need not wait forever. */
    boolean mayGiveUp() {
        long state = state();
        return state == STATE_FREE || state == STATE_ACTIVE;
    }
}
