package dev.norn.sas.store.log;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.memory.NativeFile;
import dev.norn.sas.store.memory.StoreFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * Operations of the log that wait for a container's file, which is missing, cut off, or cannot be written:
 * {@code redo.unapplied}, of each record of the log one with these. They are durable before the log's beginning goes
 * past them, and are applied before the log when the file is back.
 *
 * <p>A replay that was cut off is done again from the same beginning, and sets aside again what it had: the operations
 * say what is to be so afterwards, so going through them twice gives the same. What was cut off while it was written
 * ends the file. When all is durable, a mark says so, and names its own place: so what cannot be read before a mark is
 * damage.
 */
public final class Unapplied implements AutoCloseable {
    private static final int HEADER_BYTES = 8;
    private static final int CHECK_BYTES = 8;
    private static final int RECORD_MAGIC = 0x5541_5352;
    /** A record with its own place instead of operations. */
    private static final int MARK_BYTES = HEADER_BYTES + 8 + CHECK_BYTES;

    private final Path path;
    private final Path fresh;
    private FileChannel channel;
    private long end;
    private ByteBuffer record = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
    /** Whether some of it is applied now, so that the file is written anew without. */
    private boolean isApplied;

    interface Action {
        void accept(ByteBuffer operations) throws IOException;
    }

    /** @param canApply whether the file of the container at an offset is there */
    public Unapplied(Path directory, LongPredicate canApply) throws IOException {
        path = directory.resolve(StoreFiles.UNAPPLIED);
        fresh = directory.resolve(StoreFiles.UNAPPLIED + ".new");
        end = forEach(path, operations -> forEachOperation(operations, offset -> isApplied |= canApply.test(offset)));
    }

    /** Parts of the address space, by number, that have operations which wait. */
    public static Set<Integer> units(Path directory) throws IOException {
        Set<Integer> units = new HashSet<>();
        forEach(directory.resolve(StoreFiles.UNAPPLIED), operations -> forEachOperation(
                operations, offset -> units.add((int) (offset >> CONTAINER_ALIGNMENT_BITS))));
        return units;
    }

    /** Bytes that wait. */
    public static long bytes(Path directory) {
        try {
            return Files.exists(directory.resolve(StoreFiles.UNAPPLIED))
                    ? Files.size(directory.resolve(StoreFiles.UNAPPLIED)) : 0;
        } catch (IOException e) {
            throw new dev.norn.sas.exception.StorageReadFailure(directory.resolve(StoreFiles.UNAPPLIED) + ": "
                    + e.getMessage(), e);
        }
    }

    private static void forEachOperation(ByteBuffer operations, java.util.function.LongConsumer action) {
        for (int at = 0; at < operations.limit(); at += Replay.operationBytes((int) (operations.getLong(at) >>> 8))) {
            action.accept(operations.getLong(at + 8));
        }
    }

    /**
     * Reads each valid record; returns where they end.
     *
     * @throws LogDamaged if a record is not valid that was durable: those before it were given to the action
     */
    private static long forEach(Path path, Action action) throws IOException {
        if (!Files.exists(path)) {
            return 0;
        }
        try (FileChannel file = NativeFile.open(path, StandardOpenOption.READ)) {
            long at = forEachUpToGap(file, action);
            for (long behind = at; behind <= file.size() - MARK_BYTES; behind += 8) {
                ByteBuffer its = read(file, behind);
                if (its != null && isMark(its) && its.getLong(HEADER_BYTES) == behind) {
                    throw LogDamaged.ofWaiting(path, at);
                }
            }
            return at;
        }
    }

    private static long forEachUpToGap(FileChannel file, Action action) throws IOException {
        long at = 0;
        for (ByteBuffer its = read(file, at); its != null; its = read(file, at)) {
            at += its.capacity();
            if (!isMark(its)) {
                action.accept(its.slice(HEADER_BYTES, its.capacity() - HEADER_BYTES - CHECK_BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN));
            }
        }
        return at;
    }

    private static boolean isMark(ByteBuffer record) {
        return record.capacity() == MARK_BYTES;
    }

    /** What is wrong; null if nothing is. */
    static LogDamaged findDamage(Path directory) throws IOException {
        try {
            units(directory);
            return null;
        } catch (LogDamaged e) {
            return e;
        }
    }

    /** Cuts the file off where it is damaged. The whole file is kept in another. */
    static void cutOff(Path directory, Path kept) throws IOException {
        Path path = directory.resolve(StoreFiles.UNAPPLIED);
        StoreFiles.copy(path, kept);
        try (FileChannel file = NativeFile.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file.truncate(forEachUpToGap(file, operations -> {}));
            file.force(true);
        }
        StoreFiles.sync(directory);
    }

    /** The record at this place; null if none is valid there. */
    private static ByteBuffer read(FileChannel file, long at) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        NativeFile.readFully(file, header, at);
        int length = header.getInt(4);
        if (header.hasRemaining() || header.getInt(0) != RECORD_MAGIC || length < HEADER_BYTES + CHECK_BYTES
                || at + length > file.size()) {
            return null;
        }
        ByteBuffer whole = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        NativeFile.readFully(file, whole, at);
        return whole.getLong(length - CHECK_BYTES) == LogFile.check(whole.array(), 0, length - CHECK_BYTES) ? whole
                : null;
    }

    /**
     * Gives each operation that can be applied to the action, in order, and keeps the others. Comes before anything is
     * added.
     */
    void apply(Action action) throws IOException {
        if (!isApplied) {
            return;
        }
        end = 0;
        channel = NativeFile.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.READ, StandardOpenOption.WRITE);
        forEach(path, action);
    }

    /** Sets an operation of a record aside: {@code length} bytes of the buffer. */
    void add(ByteBuffer operations, int start, int length) {
        if (record.position() == 0) {
            record.position(HEADER_BYTES);
        }
        if (record.remaining() < length + CHECK_BYTES) {
            int least = record.position() + length + CHECK_BYTES;
            ByteBuffer larger = ByteBuffer.allocate(Math.max(2 * record.capacity(), least))
                    .order(ByteOrder.LITTLE_ENDIAN);
            record = larger.put(record.flip());
        }
        record.put(record.position(), operations, start, length).position(record.position() + length);
    }

    /** Comes when all operations of the record were looked at. */
    void endRecord() throws IOException {
        if (record.position() == 0) {
            return;
        }
        int length = record.position() + CHECK_BYTES;
        record.putInt(0, RECORD_MAGIC).putInt(4, length);
        record.putLong(LogFile.check(record.array(), 0, length - CHECK_BYTES)).flip();
        if (channel == null) {
            channel =
                    NativeFile.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            channel.truncate(end);
        }
        while (record.hasRemaining()) {
            end += channel.write(record, end);
        }
        record.clear();
    }

    /** Makes what was added durable, and takes out what was applied, whose files are durable. */
    void finish() throws IOException {
        if (channel == null) {
            return;
        }
        channel.force(true);
        if (end > 0) {
            mark();
        }
        if (isApplied && end == 0) {
            Files.delete(path);
            Files.delete(fresh);
        } else if (isApplied) {
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
        }
        StoreFiles.sync(path.getParent());
    }

    /** Says that all before is durable. */
    private void mark() throws IOException {
        ByteBuffer mark = ByteBuffer.allocate(MARK_BYTES).order(ByteOrder.LITTLE_ENDIAN)
                .putInt(RECORD_MAGIC).putInt(MARK_BYTES).putLong(end);
        mark.putLong(LogFile.check(mark.array(), 0, MARK_BYTES - CHECK_BYTES)).flip();
        while (mark.hasRemaining()) {
            end += channel.write(mark, end);
        }
        channel.force(false);
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }
}
