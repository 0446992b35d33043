package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import dev.norn.sas.StorageReadFailure;
import dev.norn.sas.StorageWriteFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * The redo log: one record for each committed transaction, behind two headers of which the newer valid one counts.
 *
 * <p>A position in the log (LSN) is a number of bytes that never starts anew; the header names the position where the file begins. A record names
 * its own position, so that what an earlier round left is not taken for a record, and its check covers all of it. A transaction is committed
 * when its record is valid and durable. Appending is under one latch; syncing under another, so that one sync serves all who wait.
 */
final class RedoLog {
    static final int HEADER_BYTES = 4096;
    private static final int RECORD_HEADER_BYTES = 24;
    private static final int RECORD_MAGIC = 0x5341_5352;
    private static final int CHECK_BYTES = 8;
    private static final int WINDOW_BYTES = 1 << 20;

    private final Pool pool;
    private final Path path;
    private FileChannel channel;

    RedoLog(Pool pool, Path path) {
        this.pool = pool;
        this.path = path;
    }

    /** Opens the file, or makes it, full of zeros so that later syncs need not write where it is. */
    void open() throws IOException {
        if (!Files.exists(path)) {
            Path fresh = path.resolveSibling("redo.log.new");
            try (var file = FileChannel.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
                byte[] zeros = new byte[1 << 16];
                for (long at = 0; at < pool.settings.logBytes(); at += zeros.length) {
                    file.write(ByteBuffer.wrap(zeros), at);
                }
                writeHeader(file, 0);
                file.force(true);
            }
            Files.move(fresh, path, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            ContainerFile.sync(path.getParent());
        }
        channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }

    private static void writeHeader(FileChannel file, long base) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong(MAGIC).putLong(VERSION).putLong(base);
        header.putLong(check(header.array(), 0, 24)).flip();
        // The older of the two is overwritten.
        long other = readHeaderAt(file, 0) > readHeaderAt(file, 2048) ? 2048 : 0;
        file.write(header, other);
    }

    private static long readHeaderAt(FileChannel file, long at) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
        try {
            readFully(file, header, at);
        } catch (java.nio.channels.NonReadableChannelException e) {
            return -1;
        }
        boolean isValid = header.position() == 32 && header.getLong(0) == MAGIC && header.getLong(8) == VERSION
                && header.getLong(24) == check(header.array(), 0, 24);
        return isValid ? header.getLong(16) : -1;
    }

    static void readFully(FileChannel file, ByteBuffer buffer, long at) throws IOException {
        while (buffer.hasRemaining() && file.read(buffer, at + buffer.position()) > 0) {
            // Until the buffer is full or the file ends.
        }
    }

    /** The position where the file begins. */
    long readBase() throws IOException {
        long base = Math.max(readHeaderAt(channel, 0), readHeaderAt(channel, 2048));
        if (base < 0) {
            throw new StorageReadFailure("the log " + path + " is damaged: neither of its headers is valid");
        }
        return base;
    }

    static long check(byte[] bytes, int start, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, start, length);
        return crc.getValue() | MAGIC << 32;
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
        slot.latch(LOG_LATCH);
        long position;
        try {
            requireWritable();
            if (Memory.getLong(LOG_TAIL) + length - Memory.getLong(LOG_BASE) > pool.settings.logBytes() - HEADER_BYTES) {
                checkpointLatched();
            }
            position = Memory.getLong(LOG_TAIL);
            byte[] bytes = record.array();
            record.putInt(0, RECORD_MAGIC).putInt(4, length).putLong(8, position).putLong(16, Memory.getLong(slot.head + SLOT_TRANSACTION));
            record.putLong(check(bytes, 0, length - CHECK_BYTES));
            Memory.putRelease(slot.head + SLOT_RECORD, position);
            Memory.putRelease(slot.head + SLOT_RECORD_END, position + length);
            slot.state(STATE_COMMITTING);
            write(record.flip(), position);
            Memory.putVolatile(LOG_TAIL, position + length);
            Memory.putLong(COMMIT_COUNT, Memory.getLong(COMMIT_COUNT) + 1);
            Memory.putLong(LOGGED_BYTES, Memory.getLong(LOGGED_BYTES) + length);
        } finally {
            slot.unlatch(LOG_LATCH);
        }
        sync(slot, position + length);
    }

    private void requireWritable() {
        if (Memory.getVolatile(POOL_WRITE_FAILED) != 0) {
            throw new StorageWriteFailure("the store takes no more changes, because a sync of " + path
                    + " failed: restart every program that uses it");
        }
    }

    private void write(ByteBuffer record, long position) {
        try {
            long at = HEADER_BYTES + position - Memory.getLong(LOG_BASE);
            while (record.hasRemaining()) {
                at += channel.write(record, at);
            }
        } catch (IOException e) {
            throw new StorageWriteFailure("cannot write to the log " + path + ": " + e.getMessage(), e);
        }
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
                    syncLatched(tail);
                }
            } finally {
                slot.unlatch(SYNC_LATCH);
            }
        }
    }

    private void syncLatched(long tail) {
        try {
            channel.force(false);
        } catch (IOException e) {
            Memory.putVolatile(POOL_WRITE_FAILED, 1);
            throw new StorageWriteFailure("cannot sync the log " + path + ": " + e.getMessage(), e);
        }
        Memory.putLong(SYNC_COUNT, Memory.getLong(SYNC_COUNT) + 1);
        Memory.putVolatile(LOG_SYNCED, tail);
    }

    /** Whether a dead slot's record is there, as far as the log goes or right behind it, where its writer died before it counted. */
    boolean hasRecord(long position, long end) throws IOException {
        if (end <= Memory.getVolatile(LOG_TAIL)) {
            return true;
        }
        int length = new Reader(Memory.getLong(LOG_BASE)).find(position);
        return length != 0 && position + length == end && position == Memory.getLong(LOG_TAIL);
    }

    /** What a dead slot left while it held the log's latch; the latch is still its. */
    void recoverLatched(Slot slot) throws IOException {
        Memory.putVolatile(LOG_BASE, readBase());
        long position = Memory.getLong(slot.head + SLOT_RECORD);
        long end = Memory.getLong(slot.head + SLOT_RECORD_END);
        if (slot.state() == STATE_COMMITTING && position == Memory.getLong(LOG_TAIL) && hasRecord(position, end)) {
            Memory.putVolatile(LOG_TAIL, end);
        }
    }

    /** Reads records one after the other, from a window of the file. */
    private final class Reader {
        private final long base;
        private ByteBuffer window = ByteBuffer.allocate(WINDOW_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
        private long windowAt;

        Reader(long base) {
            this.base = base;
        }

        /** Moves the window's position to the place of the log; false if the file has not so many bytes there. */
        private boolean show(long position, int length) throws IOException {
            long at = HEADER_BYTES + position - base;
            if (at < windowAt || at + length > windowAt + window.limit()) {
                if (length > window.capacity()) {
                    window = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
                }
                readFully(channel, window.clear(), at);
                window.flip();
                windowAt = at;
            }
            window.position((int) (at - windowAt));
            return window.remaining() >= length;
        }

        /** The length of the record at {@code position}, to which the window's position is moved; 0 if none is valid there. */
        int find(long position) throws IOException {
            if (!show(position, RECORD_HEADER_BYTES)) {
                return 0;
            }
            int at = window.position();
            int length = window.getInt(at + 4);
            if (window.getInt(at) != RECORD_MAGIC || window.getLong(at + 8) != position || length < RECORD_HEADER_BYTES + CHECK_BYTES
                    || HEADER_BYTES + position - base + length > channel.size() || !show(position, length)) {
                return 0;
            }
            at = window.position();
            return window.getLong(at + length - CHECK_BYTES) == check(window.array(), at, length - CHECK_BYTES) ? length : 0;
        }

        /** The operations of the record that was found. */
        ByteBuffer operations(int length) {
            return window.slice(window.position() + RECORD_HEADER_BYTES, length - RECORD_HEADER_BYTES - CHECK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    /**
     * Applies every valid record up to {@code limit} to the containers' files, and begins the log anew behind them. Doing it again from the start,
     * after it was cut off at any place, gives the same.
     *
     * @return the position behind the last record
     */
    long replay(long limit) throws IOException {
        long base = readBase();
        long position = base;
        try (Replay replay = new Replay(pool)) {
            Reader reader = new Reader(base);
            for (int length; position < limit && (length = reader.find(position)) != 0; position += length) {
                replay.apply(reader.operations(length));
            }
            replay.finish();
        }
        // What was cut off, or not to be trusted, lies before the new beginning: no position behind it was ever given out as committed.
        long fresh = position == base && limit == Long.MAX_VALUE ? base : position + 1;
        if (fresh != base) {
            writeHeader(channel, fresh);
            channel.force(false);
        }
        return fresh;
    }

    /** Replays the log into the containers' files while transactions run; commits wait meanwhile. */
    void checkpoint(Slot slot) {
        slot.latch(LOG_LATCH);
        try {
            checkpointLatched();
        } finally {
            slot.unlatch(LOG_LATCH);
        }
    }

    /** The same, and then something before the next commit. */
    void checkpointAnd(Slot slot, Pool.Step step) throws IOException {
        slot.latch(LOG_LATCH);
        try {
            checkpointLatched();
            step.run();
        } finally {
            slot.unlatch(LOG_LATCH);
        }
    }

    private void checkpointLatched() {
        long tail = Memory.getLong(LOG_TAIL);
        try {
            if (Memory.getVolatile(LOG_SYNCED) < tail) {
                syncLatched(tail);
            }
            long end = replay(tail);
            Memory.putVolatile(LOG_BASE, end);
            Memory.putVolatile(LOG_TAIL, end);
            Memory.putVolatile(LOG_SYNCED, end);
            Memory.putLong(CHECKPOINT_COUNT, Memory.getLong(CHECKPOINT_COUNT) + 1);
        } catch (IOException e) {
            Memory.putVolatile(POOL_WRITE_FAILED, 1);
            throw new StorageWriteFailure("cannot bring the containers of " + pool.directory + " up to date: " + e.getMessage(), e);
        }
    }
}
