package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.log.Replay;
import dev.norn.sas.store.memory.Memory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Does in a follower's store what the records of a leader say, each in a transaction: with locks, undo images and
 * versions, so that read-only transactions beside it see what one record after the other has left, and a death in the
 * middle is recovered as any other. Nothing is synced. Belongs to one thread.
 */
public final class Applier {
    private final AttachedStore store;
    private final StoreTransaction transaction;

    public Applier(AttachedStore store) {
        this.store = store;
        transaction = new StoreTransaction(store);
    }

    /** Applies the operations of one record: all of them, or none if something is thrown. */
    public void apply(ByteBuffer operations) {
        transaction.beginApplying();
        try {
            while (operations.hasRemaining()) {
                applyNext(operations);
            }
        } catch (Throwable e) {
            transaction.abort();
            throw e;
        }
        transaction.commit();
    }

    private void applyNext(ByteBuffer operations) {
        long word = operations.getLong();
        long offset = operations.getLong();
        byte[] content = new byte[(int) (word >>> 8)];
        operations.get(content).position(operations.position() + (-content.length & 7));
        switch ((int) (word & 0xFF)) {
            case Replay.RANGE -> change(offset, content);
            case Replay.ALLOCATION -> allocate(offset, content);
            case Replay.FREE -> free(offset, firstWord(content));
            case Replay.CONTAINER -> addContainer(offset, ByteBuffer.wrap(content).order(operations.order()));
            default -> throw new StorageReadFailure("a record of the leader of " + store
                    + " has an operation of unknown kind " + (word & 0xFF));
        }
    }

    private static long firstWord(byte[] content) {
        return ByteBuffer.wrap(content).order(java.nio.ByteOrder.LITTLE_ENDIAN).getLong(0);
    }

    private void change(long offset, byte[] content) {
        long start = store.ranges().of(offset).startOf(offset);
        if (start == 0) {
            throw new StorageReadFailure("a record of the leader changes what is no object of " + store + ", at "
                    + Long.toHexString(offset) + ": it is not a copy of the leader's store");
        }
        transaction.lockExclusive(reference(start, generationOf(Memory.getLong(start))));
        if (StoreTransaction.isTouched(start)) {
            transaction.touch(offset, content.length);
        }
        Memory.copyIn(content, 0, offset, content.length);
    }

    private void allocate(long offset, byte[] content) {
        // One that is destroyed in the same record is freed by an operation that follows.
        long header = firstWord(content) & ~DESTROYED;
        Range range = store.ranges().of(offset);
        if (range.startsAt(offset)) {
            throw new StorageReadFailure("a record of the leader makes an object where " + store + " has one, at "
                    + Long.toHexString(offset) + ": it is not a copy of the leader's store");
        }
        transaction.allocateAt(range, offset, header);
        int kept = classOf(header) == CLASS_VALUE ? VALUE_HEADER_BYTES : OBJECT_HEADER_BYTES;
        Memory.copyIn(content, kept, offset + kept, content.length - kept);
    }

    private void free(long offset, long header) {
        long reference = reference(offset, generationOf(header));
        if (classOf(header) == CLASS_VALUE) {
            transaction.freeValue(reference | TAG_VALUE);
        } else {
            transaction.destroy(reference);
        }
    }

    private void addContainer(long base, ByteBuffer content) {
        int id = content.getInt();
        long pages = content.getLong();
        byte[] name = new byte[content.remaining()];
        content.get(name);
        Range range = new Range(id, new String(name, StandardCharsets.UTF_8), base, pages, true);
        store.pages().back(base, PAGE_BYTES);
        range.format();
        transaction.addContainer(range);
        store.ranges().add(range);
    }
}
