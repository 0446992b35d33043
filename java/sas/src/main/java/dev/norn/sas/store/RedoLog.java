package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import dev.norn.sas.StorageWriteFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * The redo log: one record for each committed transaction, in a ring.
 *
 * <p>A record names its own position, so that what an earlier round left is not taken for a record, and its check covers all of it. A transaction is committed
 * when its record is valid and durable. Appending is under one latch; syncing under another, so that one sync serves all who wait; a checkpoint, which replays the log into
 * the containers' files and gives room, under a third, so that others commit meanwhile.
 */
final class RedoLog {
    private static final int RECORD_HEADER_BYTES = 24;
    private static final int RECORD_MAGIC = 0x5341_5352;
    private static final int CHECK_BYTES = 8;
    private static final int WINDOW_BYTES = 1 << 20;
    /** What {@link #append} returns when there is no room. */
    private static final long NO_ROOM = -1;

    private final Pool pool;
    private final LogFile file;
    /** Why this JVM set the mark that the store takes no more changes. */
    private volatile IOException failure;

    RedoLog(Pool pool, Path path) {
        this.pool = pool;
        file = new LogFile(path);
    }

    void open() throws IOException {
        file.open(pool.settings.logBytes());
    }

    void close() throws IOException {
        file.close();
    }

    private static long ring() {
        return Memory.getVolatile(LOG_RING);
    }

    /** Bytes from the first record that is not in the containers' files to the end. */
    static long used() {
        return Memory.getVolatile(LOG_TAIL) - Memory.getVolatile(LOG_BASE);
    }

    /** A buffer for a record's operations. */
    static ByteBuffer newRecord(int capacity) {
        return ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN).position(RECORD_HEADER_BYTES);
    }

    /**
     * Appends the record and returns when it is durable.
     *
     * @throws StorageWriteFailure if there is no room for it, or writing fails: nothing was committed; or if the sync fails: then the store takes no more
     *     changes, and after the next start the log decides
     */
    void commit(Slot slot, ByteBuffer record) {
        int length = record.position() + CHECK_BYTES;
        long end = append(slot, record, length);
        while (end == NO_ROOM) {
            makeRoom(slot, length);
            end = append(slot, record, length);
        }
        sync(slot, end);
    }

    /** Returns the position behind the record, or {@link #NO_ROOM}. */
    private long append(Slot slot, ByteBuffer record, int length) {
        slot.latch(LOG_LATCH);
        try {
            requireWritable();
            long position = Memory.getLong(LOG_TAIL);
            if (position + length - Memory.getVolatile(LOG_BASE) > ring()) {
                return NO_ROOM;
            }
            record.putInt(0, RECORD_MAGIC).putInt(4, length).putLong(8, position).putLong(16, Memory.getLong(slot.head + SLOT_TRANSACTION));
            record.putLong(LogFile.check(record.array(), 0, length - CHECK_BYTES));
            Memory.putRelease(slot.head + SLOT_RECORD, position);
            Memory.putRelease(slot.head + SLOT_RECORD_END, position + length);
            slot.state(STATE_COMMITTING);
            file.write(record.flip(), position, ring());
            Memory.putVolatile(LOG_TAIL, position + length);
            Memory.putLong(COMMIT_COUNT, Memory.getLong(COMMIT_COUNT) + 1);
            Memory.putLong(LOGGED_BYTES, Memory.getLong(LOGGED_BYTES) + length);
            return position + length;
        } catch (IOException e) {
            throw new StorageWriteFailure("cannot write to the log " + file.path + ": " + e.getMessage(), e);
        } finally {
            slot.unlatch(LOG_LATCH);
        }
    }

    private void requireWritable() {
        if (Memory.getVolatile(POOL_WRITE_FAILED) != 0) {
            throw new StorageWriteFailure("the store takes no more changes, because a sync of " + file.path
                    + ", or bringing the containers' files up to date, failed: restart every program that uses it", failure);
        }
    }

    private StorageWriteFailure takeNoMoreChanges(String what, IOException cause) {
        failure = cause;
        Memory.putVolatile(POOL_WRITE_FAILED, 1);
        return new StorageWriteFailure(what + ": " + cause.getMessage(), cause);
    }

    /** Returns when everything up to {@code end} is durable. One sync serves all who wait. */
    void sync(Slot slot, long end) {
        int spins = 0;
        while (Memory.getVolatile(LOG_SYNCED) < end) {
            requireWritable();
            if (!slot.tryLatch(SYNC_LATCH)) {
                spins = pool.pause(spins, SYNC_LATCH);
                continue;
            }
            try {
                long tail = Memory.getVolatile(LOG_TAIL);
                if (Memory.getVolatile(LOG_SYNCED) < end) {
                    file.sync();
                    Memory.putLong(SYNC_COUNT, Memory.getLong(SYNC_COUNT) + 1);
                    Memory.putVolatile(LOG_SYNCED, tail);
                }
            } catch (IOException e) {
                throw takeNoMoreChanges("cannot sync the log " + file.path, e);
            } finally {
                slot.unlatch(SYNC_LATCH);
            }
        }
    }

    /** What a dead slot left while it held the latch of appending, which is still its: its record, right behind the end, counts if it is whole. */
    void recoverAppending(Slot slot) throws IOException {
        long position = Memory.getLong(slot.head + SLOT_RECORD);
        long end = Memory.getLong(slot.head + SLOT_RECORD_END);
        if (slot.state() == STATE_COMMITTING && position == Memory.getLong(LOG_TAIL) && new Reader(ring()).find(position) == end - position) {
            Memory.putVolatile(LOG_TAIL, end);
        }
    }

    /** What a dead slot left while it held the latch of checkpoints, which is still its: the header may say more than the shared memory. */
    void recoverCheckpoint() throws IOException {
        LogFile.Header header = file.readHeader();
        if (header.ring() != ring()) {
            begin(header);
        }
        Memory.putVolatile(LOG_BASE, header.beginning());
    }

    /** Says in shared memory that the log is empty. */
    private static void begin(LogFile.Header header) {
        Memory.putVolatile(LOG_BASE, header.beginning());
        Memory.putVolatile(LOG_SYNCED, header.beginning());
        Memory.putVolatile(LOG_TAIL, header.beginning());
        Memory.putVolatile(LOG_RING, header.ring());
    }

    /** Reads records one after the other, from a window of the ring. */
    private final class Reader {
        private final long ring;
        private ByteBuffer window = ByteBuffer.allocate(WINDOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
        private long windowAt;

        Reader(long ring) {
            this.ring = ring;
        }

        /** Moves the window's position to the place of the log; false if the file has not so many bytes there. */
        private boolean show(long position, int length) throws IOException {
            if (position < windowAt || position + length > windowAt + window.limit()) {
                if (length > window.capacity()) {
                    window = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
                }
                file.read(window.clear().limit((int) Math.min(window.capacity(), ring)), position, ring);
                window.flip();
                windowAt = position;
            }
            window.position((int) (position - windowAt));
            return window.remaining() >= length;
        }

        /** The length of the record at {@code position}, to which the window's position is moved; 0 if none is valid there. */
        int find(long position) throws IOException {
            if (!show(position, RECORD_HEADER_BYTES)) {
                return 0;
            }
            int at = window.position();
            int length = window.getInt(at + 4);
            if (window.getInt(at) != RECORD_MAGIC || window.getLong(at + 8) != position || length < RECORD_HEADER_BYTES + CHECK_BYTES || length > ring
                    || !show(position, length)) {
                return 0;
            }
            at = window.position();
            return window.getLong(at + length - CHECK_BYTES) == LogFile.check(window.array(), at, length - CHECK_BYTES) ? length : 0;
        }

        /** The operations of the record that was found. */
        ByteBuffer operations(int length) {
            return window.slice(window.position() + RECORD_HEADER_BYTES, length - RECORD_HEADER_BYTES - CHECK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    /**
     * Applies every valid record up to {@code limit} to the containers' files. Doing it again from the start, after it was cut off at any place, gives the same.
     *
     * @return the position behind the last record
     */
    private long replay(LogFile.Header header, long limit) throws IOException {
        long position = header.beginning();
        try (Replay replay = new Replay(pool)) {
            Reader reader = new Reader(header.ring());
            for (int length; position < limit && (length = reader.find(position)) != 0; position += length) {
                replay.apply(reader.operations(length));
            }
            replay.finish();
        }
        return position;
    }

    /**
     * Brings the containers' files up to the end of the log, as far as it is valid and to {@code limit} at most, and begins it anew. Nobody else uses the store. The new beginning is
     * behind every position that was ever written, so that nothing of what was left out is ever taken for a record.
     */
    void restart(long limit) throws IOException {
        LogFile.Header header = file.readHeader();
        replay(header, limit);
        LogFile.Header next = new LogFile.Header(header.beginning() + header.ring(), header.ring());
        file.writeHeader(next);
        begin(next);
    }

    /** Brings the containers' files up to what is committed now; other transactions commit meanwhile. */
    void checkpoint(Slot slot) {
        slot.latch(CHECKPOINT_LATCH);
        try {
            checkpointLatched(slot);
        } finally {
            slot.unlatch(CHECKPOINT_LATCH);
        }
    }

    /** The same, and then something before the next checkpoint. */
    void checkpointAnd(Slot slot, Pool.Step step) throws IOException {
        slot.latch(CHECKPOINT_LATCH);
        try {
            checkpointLatched(slot);
            step.run();
        } finally {
            slot.unlatch(CHECKPOINT_LATCH);
        }
    }

    /** Whether more than a share of the ring is in use, from 0 to 1, and nobody makes a checkpoint. */
    boolean isNearlyFull(double share) {
        return used() > share * ring() && Memory.getVolatile(CHECKPOINT_LATCH) == 0;
    }

    /** A checkpoint, unless somebody else makes one. A failure shows with the next change: what is committed is committed. */
    void relieve(Slot slot) {
        if (!slot.tryLatch(CHECKPOINT_LATCH)) {
            return;
        }
        try {
            checkpointLatched(slot);
        } catch (StorageWriteFailure e) {
            // The store takes no more changes, and says why.
        } finally {
            slot.unlatch(CHECKPOINT_LATCH);
        }
    }

    private void makeRoom(Slot slot, int length) {
        slot.latch(CHECKPOINT_LATCH);
        try {
            if (length > ring()) {
                lengthen(slot, length);
            } else if (used() + length > ring()) {
                checkpointLatched(slot);
            }
        } finally {
            slot.unlatch(CHECKPOINT_LATCH);
        }
    }

    private void checkpointLatched(Slot slot) {
        long limit = Memory.getVolatile(LOG_TAIL);
        sync(slot, limit);
        try {
            LogFile.Header header = file.readHeader();
            if (limit > header.beginning()) {
                replay(header, limit);
                file.writeHeader(new LogFile.Header(limit, header.ring()));
            }
            Memory.putVolatile(LOG_BASE, limit);
            Memory.putLong(CHECKPOINT_COUNT, Memory.getLong(CHECKPOINT_COUNT) + 1);
        } catch (IOException e) {
            throw takeNoMoreChanges("cannot bring the containers of " + pool.directory + " up to date", e);
        }
    }

    /** Makes the ring longer for a record that does not fit it, while the log is empty. */
    private void lengthen(Slot slot, int length) {
        do {
            checkpointLatched(slot);
        } while (!lengthenEmpty(slot, length));
    }

    private boolean lengthenEmpty(Slot slot, int length) {
        slot.latch(LOG_LATCH);
        try {
            if (used() != 0) {
                return false;
            }
            long longer = Math.max(2 * ring(), length);
            clear(longer, length);
            LogFile.Header header = new LogFile.Header(Memory.getLong(LOG_TAIL) + LogFile.WORD_BYTES, longer);
            file.writeHeader(header);
            begin(header);
            return true;
        } catch (IOException e) {
            throw takeNoMoreChanges("cannot write the header of the log " + file.path, e);
        } finally {
            slot.unlatch(LOG_LATCH);
        }
    }

    private void clear(long longer, int length) {
        try {
            file.lengthen(ring(), longer);
        } catch (IOException e) {
            throw new StorageWriteFailure("the log " + file.path + " cannot grow for a record of " + length + " bytes: " + e.getMessage(), e);
        }
    }
}
