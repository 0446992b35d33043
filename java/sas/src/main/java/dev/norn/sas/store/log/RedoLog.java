package dev.norn.sas.store.log;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.NotLeader;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.heap.ContainerFile;
import dev.norn.sas.store.memory.Attachments;
import dev.norn.sas.store.memory.Latch;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.PagePool;
import dev.norn.sas.store.memory.StackRoom;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.memory.StoreSettings;
import dev.norn.sas.store.memory.SyncFailed;
import dev.norn.sas.store.memory.TransactionSlot;
import dev.norn.sas.store.memory.WaitQueues;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The redo log: one record for each committed transaction, in a ring.
 *
 * <p>A record names its own position, so that what an earlier round left is not taken for a record, and its check
 * covers all of it. A transaction is committed when its record is valid and durable. Appending is under one latch;
 * syncing under another, so that one sync serves all who wait; a checkpoint, which replays the log into the containers'
 * files and gives room, under a third, so that others commit meanwhile.
 */
public final class RedoLog {
    /** What {@link #append} returns when there is no room. */
    private static final long NO_ROOM = -1;
    /** Room on the stack for a commit, so that it does not overflow where its outcome is decided. */
    private static final int FRAMES = 16;
    /** How often those look who wait for another thread's sync. It wakes them. */
    private static final long QUEUED_NANOS = 20_000_000;

    private final PagePool pool;
    private final LogFile file;
    /** Why this JVM set the mark that the store takes no more changes. */
    private volatile IOException failure;

    public RedoLog(PagePool pool, Path path) {
        this.pool = pool;
        file = new LogFile(path);
    }

    /**
     * Opens the log's file. Makes it in a store that never had one: its properties then name it, so that it is missed
     * when it is gone.
     *
     * @throws LogDamaged if it is gone, or was cut off, or is another one
     */
    public void open() throws IOException {
        // Another process may have made it a moment ago.
        UUID named = StoreSettings.read(pool.directory).log();
        if (!Files.exists(file.path)) {
            if (named != null) {
                throw LogDamaged.wholly(file.path, "it is not there");
            }
            LogFile.create(file.path, LogFile.Header.fresh(0, pool.settings.logBytes()));
        }
        file.open();
        LogFile.Header header = file.readHeader();
        if (header.version() == LogFile.VERSION) {
            requireNamed(header, named);
        }
        file.requireWhole(header);
    }

    private void requireNamed(LogFile.Header header, UUID named) throws IOException {
        if (header.identity().equals(named)) {
            return;
        }
        if (named != null || new LogRecords(file, header).find(header.beginning()) != 0) {
            throw LogDamaged.wholly(file.path, "it is the log " + header.identity()
                    + ", but store.properties names " + (named == null ? "none" : named));
        }
        StoreSettings.read(pool.directory).withLog(header.identity()).write(pool.directory);
    }

    public void close() throws IOException {
        file.close();
    }

    private static long ring() {
        return Memory.getVolatile(LOG_RING);
    }

    /** Bytes from the first record that is not in the containers' files to the end. */
    public static long used() {
        return Memory.getVolatile(LOG_TAIL) - Memory.getVolatile(LOG_BASE);
    }

    /** A buffer for a record's operations. */
    public static ByteBuffer newRecord(int capacity) {
        return LogRecords.allocate(capacity).position(LogRecords.HEADER_BYTES);
    }

    /**
     * Appends the record: it has its place among all others then, and is committed when the log is durable up to its
     * end.
     *
     * @return the position after it
     * @throws StorageWriteFailure if there is no room for it, a group takes none of its length, or writing fails:
     *     nothing was committed, unless the slot's state says that it counts
     */
    public long append(TransactionSlot slot, ByteBuffer record) {
        StackRoom.require(FRAMES);
        Replication.addNumber(record);
        int length = Replication.requireFits(record.position() + LogRecords.CHECK_BYTES);
        try {
            long end = append(slot, record, length);
            return end == NO_ROOM ? Latch.hold(slot, CHECKPOINT_LATCH, () -> makeRoom(slot, record, length)) : end;
        } catch (StorageWriteFailure e) {
            pool.loseLeadership();
            throw e;
        }
    }

    /** Returns the position after the record, or {@link #NO_ROOM}. */
    private long append(TransactionSlot slot, ByteBuffer record, int length) {
        try {
            return Latch.hold(slot, LOG_LATCH, () -> appendLatched(slot, record, length));
        } catch (IOException e) {
            throw new StorageWriteFailure("cannot write to the log " + file.path + ": " + e.getMessage(), e);
        }
    }

    private long appendLatched(TransactionSlot slot, ByteBuffer record, int length) throws IOException {
        requireWritable();
        long position = Memory.getLong(LOG_TAIL);
        long end = position + length;
        long reserved = Memory.getVolatile(LOG_RESERVED);
        if (end - Replication.oldestNeeded() > ring() || reserved != 0 && reserved != slot.latchValue()) {
            return NO_ROOM;
        }
        Replication.setNumber(record);
        LogRecords.complete(record, position, Memory.getLong(slot.head + SLOT_TRANSACTION),
                Memory.getVolatile(LOG_SYNCED));
        Memory.putRelease(slot.head + SLOT_RECORD, position);
        Memory.putRelease(slot.head + SLOT_RECORD_END, end);
        slot.state(STATE_COMMITTING);
        file.write(record, position, ring());
        Replication.countRecord();
        Memory.putLong(COMMIT_COUNT, Memory.getLong(COMMIT_COUNT) + 1);
        Memory.putLong(LOGGED_BYTES, Memory.getLong(LOGGED_BYTES) + length);
        // From here on it counts.
        Memory.putVolatile(LOG_TAIL, end);
        return end;
    }

    void requireWritable() {
        if (Memory.getVolatile(POOL_WRITE_FAILED) == LEADERSHIP_LOST) {
            throw NotLeader.hasLed();
        }
        if (Memory.getVolatile(POOL_WRITE_FAILED) == LOG_REMOVED) {
            throw removed();
        }
        if (Memory.getVolatile(POOL_WRITE_FAILED) != 0) {
            throw new StorageWriteFailure("the store takes no more changes, because a sync of " + file.path
                    + " or of a container's file failed: restart every program that uses it", failure);
        }
    }

    private StorageWriteFailure removed() {
        return new StorageWriteFailure("the store takes no more changes, because the log " + file.path + " was removed "
                + "or replaced while it was in use: end every program that uses it, "
                + "and open it again before the machine stops; nothing is lost then", null);
    }

    public StorageWriteFailure takeNoMoreChanges(String what, IOException cause) {
        failure = cause;
        Memory.putVolatile(POOL_WRITE_FAILED, SYNC_FAILED);
        return new StorageWriteFailure(what + ": " + cause.getMessage(), cause);
    }

    /**
     * Returns when everything up to {@code end} is durable. One sync serves all who wait.
     *
     * @throws StorageWriteFailure if a sync fails, or has failed: then the store takes no more changes, and after the
     *     next start the log decides what was committed
     */
    public void sync(TransactionSlot slot, long end) {
        if (Memory.getVolatile(LOG_SYNCED) >= end) {
            return;
        }
        requireWritable();
        if (Replication.isOn()) {
            Replication.awaitAcknowledged(pool, this, end);
            return;
        }
        if (trySync(slot, end) != Latch.BUSY) {
            return;
        }
        if (pool.attachments().isAlone()) {
            // The first of the queue may wait for what only this thread can do: to free the latch of one who died.
            syncUnqueued(slot, end);
            return;
        }
        Queue<Thread> queue = pool.waitQueues().join(WaitQueues.SYNC);
        try {
            syncQueued(slot, end, queue);
        } finally {
            pool.waitQueues().leave(WaitQueues.SYNC);
        }
    }

    private void syncUnqueued(TransactionSlot slot, long end) {
        Latch.Waiting waiting = new Latch.Waiting(slot, SYNC_LATCH);
        while (Memory.getVolatile(LOG_SYNCED) < end) {
            requireWritable();
            if (trySync(slot, end) == Latch.BUSY) {
                waiting.pause();
            }
        }
    }

    private void syncQueued(TransactionSlot slot, long end, Queue<Thread> queue) {
        Latch.Waiting waiting = new Latch.Waiting(slot, SYNC_LATCH);
        while (Memory.getVolatile(LOG_SYNCED) < end) {
            requireWritable();
            if (!WaitQueues.isFirst(queue)) {
                LockSupport.parkNanos(this, QUEUED_NANOS);
                waiting.lookAtHolder();
                continue;
            }
            if (trySync(slot, end) == Latch.BUSY) {
                waiting.pause();
            }
        }
    }

    /** Syncs, unless somebody does; then returns {@link Latch#BUSY}. */
    private long trySync(TransactionSlot slot, long end) {
        long done = Latch.tryHold(slot, SYNC_LATCH, () -> syncLatched(end));
        if (done > 0) {
            pool.waitQueues().wakeAll(WaitQueues.SYNC);
            mark(slot, done);
        }
        return done;
    }

    /**
     * Writes a mark after the last record, which says that the record is synced, so that damage to it is noticed. The
     * next record says so too, and overwrites the mark. No transaction waits for that: the mark reaches the disk with
     * the next sync, or when the system writes the page.
     */
    private void mark(TransactionSlot slot, long synced) {
        try {
            // The slot that has the latch appends a record.
            Latch.tryHold(slot, LOG_LATCH, () -> markLatched(synced));
        } catch (IOException e) {
            // The records are durable without it.
        }
    }

    private long markLatched(long synced) throws IOException {
        if (Memory.getVolatile(LOG_TAIL) == synced
                && synced + LogRecords.MARK_BYTES - Memory.getVolatile(LOG_BASE) <= ring()) {
            file.write(LogRecords.complete(newRecord(LogRecords.MARK_BYTES), synced, 0, synced), synced, ring());
        }
        return synced;
    }

    /** Returns the position up to which it has synced the log, or 0 if that was done already. */
    private long syncLatched(long end) {
        if (Memory.getVolatile(LOG_SYNCED) >= end) {
            return 0;
        }
        // Another's sync may have failed since the last look: a second one would succeed without what was lost.
        requireWritable();
        long tail = Memory.getVolatile(LOG_TAIL);
        try {
            file.sync();
        } catch (IOException e) {
            throw takeNoMoreChanges("cannot sync the log " + file.path, e);
        }
        Memory.putLong(SYNC_COUNT, Memory.getLong(SYNC_COUNT) + 1);
        Memory.putVolatile(LOG_SYNCED, tail);
        return tail;
    }

    /**
     * Decides whether a record counts whose slot was cut off while it appended, and still has the latch of appending.
     * It counts if it is whole and begins at the end of the log. Otherwise the slot's transaction is active again, as
     * if it had not been about to commit.
     */
    public void recoverAppending(TransactionSlot slot) throws IOException {
        if (slot.state() != STATE_COMMITTING) {
            return;
        }
        long position = Memory.getLong(slot.head + SLOT_RECORD);
        long end = Memory.getLong(slot.head + SLOT_RECORD_END);
        if (position == Memory.getLong(LOG_TAIL)
                && LogRecords.inUse(file, ring(), end - position).find(position) == end - position) {
            Replication.recountRecord(file, position, end);
            Memory.putVolatile(LOG_TAIL, end);
        }
        if (Memory.getLong(LOG_TAIL) < end) {
            slot.state(STATE_ACTIVE);
        }
    }

    /**
     * What a dead slot left while it held the latch of syncing. Its sync may have failed, and the system does not
     * report that again to a process that opens the file later. So what it was to make durable is written once more,
     * for the next sync. If it cannot be read back, the store takes no more changes.
     */
    public void recoverSyncing() {
        if (Memory.getVolatile(POOL_WRITE_FAILED) != 0) {
            return;
        }
        try {
            rewriteUnsynced();
        } catch (IOException e) {
            takeNoMoreChanges("cannot write again what a dead process was syncing", e);
        }
    }

    private void rewriteUnsynced() throws IOException {
        long end = Memory.getVolatile(LOG_TAIL);
        long position = Math.max(Memory.getVolatile(LOG_SYNCED), Memory.getVolatile(LOG_BASE));
        LogRecords records = LogRecords.inUse(file, ring(), end - position);
        for (int length; position < end; position += length) {
            length = records.find(position);
            if (length == 0) {
                throw new IOException("the record at position " + position + " is not what was written");
            }
            file.write(records.whole(length), position, ring());
        }
    }

    /**
     * What a dead slot left while it held the latch of checkpoints, which is still its: the header may say more than
     * the shared memory.
     */
    public void recoverCheckpoint() throws IOException {
        LogFile.Header header = file.readHeader();
        if (header.ring() != ring()) {
            begin(header);
        }
        Memory.putVolatile(LOG_BASE, header.beginning());
        Memory.putVolatile(LOG_RESERVED, 0);
    }

    /** Says in shared memory that the log is empty. */
    private static void begin(LogFile.Header header) {
        beginAt(header);
        Memory.putLong(LOG_IDENTITY_HIGH, header.identity().getMostSignificantBits());
        Memory.putLong(LOG_IDENTITY_LOW, header.identity().getLeastSignificantBits());
    }

    private static void beginAt(LogFile.Header header) {
        Memory.putVolatile(LOG_BASE, header.beginning());
        Memory.putVolatile(LOG_SYNCED, header.beginning());
        Memory.putVolatile(LOG_TAIL, header.beginning());
        Memory.putVolatile(LOG_SHIPPED, header.beginning());
        Memory.putVolatile(LOG_RING, header.ring());
    }

    /**
     * Applies the records up to {@code limit} to the containers' files. Doing it again from the start, after it was cut
     * off at any place, gives the same.
     *
     * @throws LogDamaged if they do not go so far: then nothing is applied
     */
    private void replay(LogFile.Header header, long limit) throws IOException {
        requireRecords(header, limit);
        // Also when it says so already: the sync of who wrote that may have failed.
        if (header.version() == LogFile.VERSION && limit > header.beginning() && limit >= header.applied()) {
            file.writeHeader(header.applying(limit));
        }
        applyAll(header, header.beginning(), limit);
    }

    /** @throws LogDamaged if the records do not go as far as {@code limit} */
    private void requireRecords(LogFile.Header header, long limit) throws IOException {
        LogRecords records = new LogRecords(file, header);
        for (long position = header.beginning(), length; position < limit; position += length) {
            length = records.find(position);
            if (length == 0) {
                throw LogDamaged.partly(file.path, LogEnd.find(records, header, limit).describe(header));
            }
        }
    }

    /** Applies what there is of records between two positions. */
    private void applyAll(LogFile.Header header, long from, long limit) throws IOException {
        try (Replay replay = new Replay(pool)) {
            LogRecords records = new LogRecords(file, header);
            for (long position = from; position < limit;) {
                int length = records.find(position);
                if (position >= header.halfApplied()) {
                    replay.checkPages();
                }
                if (length != 0) {
                    replay.apply(records.operations(length));
                }
                position += Math.max(length, LogFile.WORD_BYTES);
            }
            replay.finish();
        }
    }

    /**
     * Opens the log and reads all of it. No other process uses the store.
     *
     * @param synced a position up to which the log is known to have been durable
     * @return what is wrong, if the log has lost what was durable; else null
     */
    public LogDamaged findDamage(long synced) throws IOException {
        try {
            open();
            LogFile.Header header = file.readHeader();
            LogEnd end = LogEnd.find(new LogRecords(file, header), header, synced);
            return end.isDamage() ? LogDamaged.partly(file.path, end.describe(header))
                    : Unapplied.findDamage(pool.directory);
        } catch (LogDamaged e) {
            return e;
        }
    }

    /**
     * Opens the log of a pool that is trusted, and reads what the containers' files lack. No other process uses the
     * store.
     *
     * @return what is wrong, if not all of it is there; else null
     */
    public LogDamaged findDamage() throws IOException {
        try {
            open();
            requireRecords(file.readHeader(), Memory.getLong(LOG_TAIL));
            return null;
        } catch (LogDamaged e) {
            return e;
        }
    }

    /**
     * Begins with an empty log where the pool ends, in the place of a damaged one, which is kept. Until it is named
     * with {@link #name}, it is not the store's. No other process uses the store.
     *
     * @return where the damaged log is kept; null if there is none
     */
    public Path replace() throws IOException {
        Path lost = Files.exists(file.path) ? file.setAside() : null;
        LogFile.Header fresh = LogFile.Header.fresh(Memory.getLong(LOG_TAIL), LogFile.HEADER_BYTES + ring());
        LogFile.create(file.path, fresh);
        file.open();
        beginAt(fresh);
        return lost;
    }

    /** Says that the log is the store's. */
    public void name() throws IOException {
        LogFile.Header header = file.readHeader();
        StoreSettings.read(pool.directory).withLog(header.identity()).write(pool.directory);
        begin(header);
    }

    /**
     * Keeps what follows a position from being taken for records, also by a process that does not know of the failed
     * sync, after which the bytes may be lost. No other process uses the store.
     */
    public void cutOff(long limit) throws IOException {
        file.write(ByteBuffer.allocate(LogFile.WORD_BYTES), limit, ring());
        file.sync();
    }

    /** Opens the log of a replica that no other process uses; returns up to where the containers' files need it. */
    public long openReplica() throws IOException {
        open();
        LogFile.Header header = file.readHeader();
        return Math.max(header.beginning(), header.applied());
    }

    /**
     * Reads records that are in the log, each with its operations, from a position on, up to about as many bytes.
     *
     * @return the position after them
     */
    public long read(long from, long bytesMax, Consumer<ByteBuffer> sink) throws IOException {
        // Before the first look at the file, which reads ahead.
        long end = Memory.getVolatile(LOG_TAIL);
        LogRecords records = LogRecords.inUse(file, ring(), Math.min(end - from, bytesMax));
        long position = from;
        while (position < end && position - from < bytesMax) {
            int length = records.find(position);
            if (length == 0) {
                throw new IOException("no record is at position " + position + " of the log " + file.path);
            }
            sink.accept(records.operations(length));
            position += length;
        }
        return position;
    }

    /**
     * Brings the containers' files up to the end of the log, as far as it is valid and to {@code limit} at most, and
     * begins it anew. No other process uses the store. The new beginning is after every position that was ever written,
     * so that nothing of what was left out is ever taken for a record.
     */
    public void restart(long limit) throws IOException {
        LogFile.Header header = file.readHeader();
        LogEnd end = LogEnd.find(new LogRecords(file, header), header, 0);
        replay(header, Math.min(end.position(), limit));
        if (header.version() == LogFile.VERSION) {
            LogFile.Header next = header.from(header.end());
            file.writeHeader(next);
            begin(next);
            return;
        }
        if (end.recordsBehind() > 0) {
            // What was synced is not in a log of this version, so it is unknown whether these were.
            System.err.println("sas: " + end.recordsBehind() + " records after a gap of the log were not applied, "
                    + "and are kept in " + file.setAside());
        }
        renew(header.end(), header.ring());
    }

    /**
     * The same with a log that has lost what was durable: continues with what was committed before that. The log is
     * kept in another file.
     *
     * @return what was lost
     */
    public List<String> restartDamaged(LogDamaged damage, long limit) throws IOException {
        List<String> lost = new ArrayList<>(List.of("the log " + file.path + " is damaged: " + damage.reason()));
        if (Unapplied.findDamage(pool.directory) != null) {
            Path kept = file.nextLost();
            Unapplied.cutOff(pool.directory, kept);
            lost.add("of the operations in " + StoreFiles.UNAPPLIED + " that wait for a container's file, "
                    + "those after the damage are lost; the whole file is kept in " + kept);
        }
        if (damage.extent() == LogDamaged.Extent.WAITING) {
            restart(limit);
            return lost;
        }
        long beginning = 0;
        long ring = pool.settings.logBytes() - LogFile.HEADER_BYTES;
        if (damage.extent() == LogDamaged.Extent.RECORDS) {
            LogFile.Header header = file.readHeader();
            LogEnd end = LogEnd.find(new LogRecords(file, header), header, 0);
            long kept = Math.min(end.position(), limit);
            lost.add("what was committed up to position " + kept + " is kept; after it, " + end.bytesBehind()
                    + " bytes with " + end.recordsBehind() + " whole records are lost");
            if (header.applied() > kept) {
                // Without the records that can be read, objects would go back to what they were before.
                lost.add("but a replay was cut off while it brought the containers' files up to position "
                        + header.applied()
                        + ". All readable records up to there are applied; of unreadable ones, the parts that the "
                        + "replay had written stay. Run `sas check`, or restore a backup");
                kept = header.applied();
            }
            applyAll(header, header.beginning(), kept);
            beginning = header.end();
            ring = header.ring();
        } else {
            lost.add("changes committed since the last checkpoint, if any, are lost");
        }
        if (Files.exists(file.path)) {
            lost.add("the damaged log is kept in " + file.setAside());
        }
        renew(beginning, ring);
        return lost;
    }

    /** Begins with an empty log in a new file. */
    private void renew(long beginning, long ring) throws IOException {
        LogFile.Header next = LogFile.Header.fresh(beginning, LogFile.HEADER_BYTES + ring);
        LogFile.create(file.path, next);
        file.open();
        name();
    }

    /** Brings the containers' files up to what is committed now; other transactions commit meanwhile. */
    public void checkpoint(TransactionSlot slot) {
        Latch.hold(slot, CHECKPOINT_LATCH, () -> checkpointLatched(slot));
    }

    /** The same, and then something before the next checkpoint. */
    public void checkpointAnd(TransactionSlot slot, Attachments.Step step) throws IOException {
        Latch.hold(slot, CHECKPOINT_LATCH, () -> {
            checkpointLatched(slot);
            step.run();
            return 0;
        });
    }

    /** Whether more than a share of the ring is in use, from 0 to 1, and no checkpoint runs. */
    public boolean isNearlyFull(double share) {
        return used() > share * ring() && Memory.getVolatile(CHECKPOINT_LATCH) == 0;
    }

    /**
     * A checkpoint, unless somebody else makes one. What is committed is committed: a failure is said on standard
     * error, and by a transaction that finds the log full.
     */
    public void relieve(TransactionSlot slot) {
        try {
            Latch.tryHold(slot, CHECKPOINT_LATCH, () -> checkpointLatched(slot));
        } catch (StorageWriteFailure e) {
            ContainerFile.say("sas: " + e.getMessage());
        }
    }

    /**
     * Appends a record that found no room. Others append while a first checkpoint makes some; if that does not suffice,
     * they wait for the latch of checkpoints, so that they do not take the room again and again before this record
     * does. If a slot dies in here, its reservation is taken away with that latch.
     *
     * @return the position after the record
     */
    private long makeRoom(TransactionSlot slot, ByteBuffer record, int length) {
        long end = append(slot, record, length);
        while (end == NO_ROOM) {
            if (length > ring()) {
                Memory.putVolatile(LOG_RESERVED, slot.latchValue());
                lengthen(slot, length);
            } else {
                checkpointLatched(slot);
            }
            end = append(slot, record, length);
            if (end == NO_ROOM) {
                Memory.putVolatile(LOG_RESERVED, slot.latchValue());
            }
        }
        Memory.putVolatile(LOG_RESERVED, 0);
        return end;
    }

    private long checkpointLatched(TransactionSlot slot) {
        long limit = Memory.getVolatile(LOG_TAIL);
        sync(slot, limit);
        try {
            if (Replication.isOn()) {
                // A majority has it; this machine may not. A replay that is cut off needs it again.
                file.sync();
            }
            LogFile.Header header = file.readHeader();
            if (limit > header.beginning()) {
                replay(header, limit);
                file.writeHeader(header.from(limit));
            }
            Memory.putVolatile(LOG_BASE, limit);
            Memory.putLong(CHECKPOINT_COUNT, Memory.getLong(CHECKPOINT_COUNT) + 1);
            if (!file.isInPlace()) {
                // What is appended from now on would be gone with the machine's stop.
                Memory.compareAndSet(POOL_WRITE_FAILED, 0, LOG_REMOVED);
                throw removed();
            }
        } catch (SyncFailed e) {
            throw takeNoMoreChanges("cannot bring the containers of " + pool.directory + " up to date", e);
        } catch (IOException | StorageReadFailure e) {
            // The log has all of it still, and the next checkpoint begins where this one did.
            throw new StorageWriteFailure("cannot bring the containers of " + pool.directory + " up to date; "
                    + "what is committed stays in the log, and the next transaction that needs room there tries "
                    + "again: " + (e instanceof IOException file ? StoreFiles.reason(file) : e.getMessage()), e);
        }
        return limit;
    }

    /** Makes the ring longer for a record that does not fit it, while the log is empty. */
    private void lengthen(TransactionSlot slot, int length) {
        try {
            do {
                checkpointLatched(slot);
            } while (Latch.hold(slot, LOG_LATCH, () -> lengthenEmpty(length)) == NO_ROOM);
        } catch (IOException e) {
            throw takeNoMoreChanges("cannot write the header of the log " + file.path, e);
        }
    }

    /** Returns {@link #NO_ROOM} if the log is not empty. */
    private long lengthenEmpty(int length) throws IOException {
        if (used() != 0) {
            return NO_ROOM;
        }
        long longer = Math.max(2 * ring(), length);
        try {
            file.lengthen(ring(), longer);
        } catch (IOException e) {
            throw new StorageWriteFailure("the log " + file.path + " cannot grow for a record of " + length
                    + " bytes: " + e.getMessage(), e);
        }
        LogFile.Header header = file.readHeader().from(Memory.getLong(LOG_TAIL) + LogFile.WORD_BYTES, longer);
        file.writeHeader(header);
        begin(header);
        return longer;
    }
}
