package dev.norn.sas.store.log;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.TransactionSlot;
import java.nio.ByteBuffer;

/**
 * The redo record of a transaction, made at its commit from its undo entries and from what is in the pool now. Contents
 * go from the mapping into the record's buffer without a copy between.
 *
 * <p>The buffer stays for the next record. It is as long as recent records needed, up to a bound, and is given back in
 * a few transactions when these need less. Nothing is allocated then, so giving back cannot fail.
 */
public final class RedoRecord {
    /** Runs of unchanged words as long as this are left out of the record. */
    private static final int GAP_WORDS = 3;
    private static final int FIRST_BYTES = 4096;
    /** A buffer above this is not kept, whatever recent records needed. */
    static final int KEPT_BYTES_MAX = 1 << 20;
    /** A buffer is given back when it is so many times as long as what recent records needed. */
    private static final int KEPT_TIMES_MAX = 8;
    /** What records needed counts for less with each one that needed less. */
    private static final int FORGOTTEN_SHIFT = 2;

    private final ByteBuffer first = RedoLog.newRecord(FIRST_BYTES);
    private ByteBuffer buffer = first;
    /** What recent records needed, in bytes. */
    private int recentBytes = FIRST_BYTES;

    /** The record's beginning, without operations. */
    public void clear() {
        buffer.clear().position(LogRecords.HEADER_BYTES);
    }

    public boolean isEmpty() {
        return buffer.position() == LogRecords.HEADER_BYTES;
    }

    /** Of a record that a leader has appended: its number. */
    public long number() {
        int end = buffer.limit() - LogRecords.CHECK_BYTES;
        return end < LogRecords.HEADER_BYTES + 8 ? 0 : buffer.getLong(end - 8);
    }

    /** The record, to which the log adds what it knows. */
    public ByteBuffer complete() {
        room((Replication.isOn() ? Replication.NUMBER_BYTES : 0) + LogRecords.CHECK_BYTES);
        return buffer;
    }

    /** Bytes that the buffer takes. */
    int capacity() {
        return buffer.capacity();
    }

    /** The record was written, or never will be: keeps the buffer for the next one, or a shorter one. */
    public void release() {
        int forgotten = recentBytes - (recentBytes >> FORGOTTEN_SHIFT);
        recentBytes = Math.max(Math.max(buffer.position(), FIRST_BYTES), forgotten);
        if (buffer.capacity() > KEPT_BYTES_MAX || buffer.capacity() / KEPT_TIMES_MAX > recentBytes) {
            buffer = first;
        }
    }

    private void room(int bytes) {
        if (buffer.remaining() < bytes) {
            ByteBuffer larger = RedoLog.newRecord(Math.max(2 * buffer.capacity(), buffer.position() + bytes));
            int start = larger.position();
            larger.put(start, buffer.array(), start, buffer.position() - start);
            buffer = larger.position(buffer.position());
        }
    }

    /** Whether an undo entry says that an object was made or changed, which others may lock and read; no value is. */
    public static boolean isOfObject(long entry) {
        int kind = TransactionSlot.kind(entry);
        return kind == ENTRY_IMAGE || kind == ENTRY_ALLOCATION
                && classOf(Memory.getLong(entry + ENTRY_HEADER_BYTES)) != CLASS_VALUE;
    }

    /** Adds what an undo entry says was done. */
    public void add(long entry) {
        long offset = TransactionSlot.offset(entry);
        switch (TransactionSlot.kind(entry)) {
            case ENTRY_IMAGE -> addChanges(entry, offset, OBJECT_HEADER_BYTES);
            case ENTRY_RANGE -> addChanges(entry, offset, 0);
            case ENTRY_ALLOCATION -> addAllocation(offset);
            case ENTRY_FREE -> add(Replay.FREE, offset, offset, 8);
            case ENTRY_CONTAINER ->
                add(Replay.CONTAINER, offset, entry + ENTRY_HEADER_BYTES, TransactionSlot.length(entry));
            default -> {
                // A lock.
            }
        }
    }

    private void addAllocation(long offset) {
        long header = Memory.getLong(offset);
        boolean isValue = classOf(header) == CLASS_VALUE;
        int length = isValue ? VALUE_HEADER_BYTES + lengthOf(header) : granulesOf(header) * GRANULE_BYTES;
        add(Replay.ALLOCATION, offset, offset, length);
        if (!isValue) {
            buffer.putLong(buffer.position() - length + (int) OBJECT_LOCK, 0);
        }
    }

    /** Adds each run of words, from the {@code first} byte on, that differ from the image. */
    private void addChanges(long entry, long offset, int first) {
        long image = entry + ENTRY_HEADER_BYTES;
        int length = TransactionSlot.length(entry);
        int start = -1;
        int end = 0;
        for (int at = first; at < length; at += 8) {
            if (Memory.getLong(image + at) != Memory.getLong(offset + at)) {
                if (start >= 0 && at - end > GAP_WORDS * 8) {
                    add(Replay.RANGE, offset + start, offset + start, end - start);
                    start = -1;
                }
                start = start < 0 ? at : start;
                end = at + 8;
            }
        }
        if (start >= 0) {
            add(Replay.RANGE, offset + start, offset + start, end - start);
        }
    }

    private void add(int kind, long offset, long content, int length) {
        room(Replay.operationBytes(length) + LogRecords.CHECK_BYTES);
        Replay.begin(buffer, kind, offset, length);
        Memory.copyOut(content, buffer.array(), buffer.position(), length);
        buffer.position(buffer.position() + length);
        for (int pad = -length & 7; pad > 0; pad--) {
            buffer.put((byte) 0);
        }
    }
}
