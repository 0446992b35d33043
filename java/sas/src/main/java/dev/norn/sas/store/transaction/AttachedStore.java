package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.OutcomeUnknown;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.exception.StoreClosed;
import dev.norn.sas.store.heap.Allocator;
import dev.norn.sas.store.heap.ContainerFile;
import dev.norn.sas.store.heap.DirectoryReader;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.heap.RangeTable;
import dev.norn.sas.store.log.LogDamaged;
import dev.norn.sas.store.log.LogFile;
import dev.norn.sas.store.log.RedoLog;
import dev.norn.sas.store.log.Replication;
import dev.norn.sas.store.log.Unapplied;
import dev.norn.sas.store.log.Unsynced;
import dev.norn.sas.store.memory.Attachments;
import dev.norn.sas.store.memory.Backoff;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.PagePool;
import dev.norn.sas.store.memory.StoreArchive;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.memory.StoreSettings;
import dev.norn.sas.store.memory.TransactionSlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The shared mapped page pool of a store, and the store's files. The pool is trusted within one boot of the machine
 * only; otherwise it is made anew from the containers' files, after the log was replayed into them.
 *
 * <p>Files of a store's directory: {@code store.properties}, {@code lock}, {@code redo.log}, {@code pool}, and
 * {@code NAME.container}.
 */
public final class AttachedStore {
    private final Path origin;
    /** A private copy of the store's files if the store cannot be written; else null. */
    private final PrivateCopy copy;
    /** Where the files are that this JVM uses: the store's, or the copy's. */
    private final Path directory;
    private final PagePool pages;
    private final Attachments attachments;
    private final RangeTable ranges;
    private final RedoLog log;
    private final Recovery recovery;
    private final Allocator allocator;
    private final Locks locks;
    private Checkpointer checkpointer;
    private final SlotTable slots = new SlotTable(this);
    private final SnapshotReaders snapshotReaders = new SnapshotReaders(this);
    /** What was lost with a damaged log; null if that is not accepted. */
    private final List<String> losses;
    private volatile boolean isOpen;
    /** The thread that closes the store, from when it refuses transactions; null while it is open. */
    private volatile Thread closer;

    private AttachedStore(Path origin, PrivateCopy copy, List<String> losses) throws IOException {
        this.origin = origin;
        this.copy = copy;
        this.losses = losses;
        directory = copy == null ? origin : copy.directory();
        pages = new PagePool(directory);
        attachments = pages.attachments();
        ranges = new RangeTable(pages, this::quiet);
        log = new RedoLog(pages, directory.resolve(LogFile.NAME));
        recovery = new Recovery(this);
        pages.recoverer(recovery);
        allocator = new Allocator(pages, ranges);
        locks = new Locks(this, pages.settings.lockTimeoutMillis() * 1_000_000L);
    }

    /**
     * Attaches this JVM to the store in {@code directory}: makes the pool if it is not there or not to be trusted, and
     * rolls back what dead processes left. Costs as much as reading all containers when the pool has to be made.
     *
     * @throws StorageReadFailure if a file cannot be read or is not of this store
     */
    public static AttachedStore attach(Path directory) {
        return attach(directory, null, Membership.NONE);
    }

    /**
     * Attaches to the store of a member of a group, as a follower, with what its containers' files have: the group has
     * the rest. No other program uses the store.
     *
     * @param archive what another member has sent, which takes the place of the containers' files; null if nothing.
     *     Until this returns, it is needed: then it is taken again
     */
    public static AttachedStore attachReplica(Path directory, Path archive) {
        return attach(directory, null, new Membership(true, archive));
    }

    /**
     * Brings the containers' files up to date, also when the log is damaged: what was committed before the damage is
     * kept. No other program uses the store.
     *
     * @return what was lost; nothing if the log is whole
     */
    public static List<String> recover(Path directory) {
        List<String> losses = new ArrayList<>();
        AttachedStore store = attach(directory, losses, Membership.NONE);
        try {
            if (store.isReadOnly()) {
                throw new StorageWriteFailure("the store " + directory + " is on a read-only file system", null);
            }
        } finally {
            store.close();
        }
        return losses;
    }

    private static AttachedStore attach(Path directory, List<String> losses, Membership membership) {
        AttachedStore store = null;
        try {
            PrivateCopy copy = PrivateCopy.isNeeded(directory) ? PrivateCopy.ofReadOnly(directory) : null;
            store = new AttachedStore(directory, copy, losses);
            AttachedStore attached = store;
            store.attachments.alone(() -> {
                try {
                    attached.attachAlone(membership);
                } catch (IOException | RuntimeException | Error e) {
                    // Before another one comes, which would take this process for one that uses the pool.
                    Memory.unmap();
                    attached.pages.close();
                    throw e;
                }
            });
            store.checkpointer = new Checkpointer(store);
            return store;
        } catch (IOException e) {
            closeFiles(store);
            throw new StorageReadFailure("cannot attach to the store " + directory + ": " + StoreFiles.reason(e), e);
        } catch (InternalError e) {
            closeFiles(store);
            throw new StorageReadFailure("cannot attach to the store " + directory
                    + ": there is no room on the disk of its pool, or it cannot be read (" + e.getMessage() + ")", e);
        } catch (RuntimeException | Error e) {
            closeFiles(store);
            throw e;
        }
    }

    private static void closeFiles(AttachedStore store) {
        if (store != null) {
            store.closeFiles();
        }
    }

    /** As what a store is attached to: of a group or none, and with the files that another member has sent. */
    private record Membership(boolean isMember, Path archive) {
        static final Membership NONE = new Membership(false, null);
    }

    private void attachAlone(Membership membership) throws IOException {
        boolean isReplica = membership.isMember;
        pages.open();
        boolean isShared = pages.isShared();
        pages.map();
        boolean isTrusted = pages.isTrusted();
        if (isShared && !isTrusted) {
            throw new StorageReadFailure("the store " + directory + " is used by " + attachments.describeOther()
                    + ", whose pool " + pages + " this process cannot use: "
                    + "it is of another version of SAS or another machine; end that process first");
        }
        if (isTrusted) {
            // A container has no file before the first checkpoint; the others are found by the directory when they are
            // met.
            DirectoryReader.addSystem(ranges);
        }
        if (isShared ? isReplica : isReplica != Files.exists(directory.resolve(StoreFiles.REPLICA))) {
            throw new StorageReadFailure("the store " + directory + (isShared ? " is used by "
                    + attachments.describeOther() + ": end it, and open the member of the group then"
                    : isReplica ? " is no member of a group"
                            : " is a member of a group, and nothing connects it: start `sas server " + directory
                                    + "`, or open it by Store.open(path, group); a backup can be opened alone"));
        }
        if (isReplica) {
            rebuildReplica(membership.archive);
        } else if (isTrusted && isShared) {
            openSharedLog();
        } else if (isTrusted && !DirectoryReader.hasFileBack(ranges)) {
            openLog();
        } else {
            rebuild();
        }
        recovery.reapAlone();
        pages.register();
        isOpen = true;
        if (ranges.ofNumber(0) == null || DirectoryReader.isUndone(ranges)) {
            Directory.format(this);
        }
    }

    /** Opens the log that other processes use. */
    private void openSharedLog() throws IOException {
        try {
            log.open();
        } catch (LogDamaged e) {
            throw new StorageReadFailure("the log of " + origin + ", which other programs use, is damaged: "
                    + e.reason()
                    + ". End them, and open the store again before the machine stops; nothing is lost then", e);
        }
    }

    /**
     * Opens the log of a pool that is trusted and that no other process uses. The pool has all that was committed: if
     * the log is damaged, the containers' files are written from the pool.
     */
    private void openLog() throws IOException {
        LogDamaged damage = log.findDamage();
        if (damage != null) {
            List<Range> all = Directory.containers(this).stream().map(entry -> Directory.range(this, entry)).toList();
            if (!all.stream().allMatch(Range::isWhole)) {
                throw damage;
            }
            Path kept = log.replace();
            recovery.reapAlone();
            ContainerFile.saveAll(pages,
                    Directory.containers(this).stream().map(entry -> Directory.range(this, entry)).toList());
            log.name();
            System.err.println("sas: the log of " + origin + " was damaged: " + damage.reason() + "; nothing is lost, "
                    + "because the pool has all committed changes"
                    + (kept == null ? "" : "; the log is kept in " + kept));
        }
        Memory.putVolatile(POOL_WRITE_FAILED, 0);
    }

    private void rebuild() throws IOException {
        long synced = pages.isOfThisBoot() ? Memory.getLong(LOG_SYNCED) : 0;
        // What a failed sync left in the page cache is not to be taken for durable.
        long limit = pages.isOfThisBoot() && Memory.getLong(POOL_WRITE_FAILED) == SYNC_FAILED ? synced : Long.MAX_VALUE;
        LogDamaged damage = log.findDamage(synced);
        if (damage != null && isReadOnly()) {
            throw new StorageReadFailure("the log of the store " + origin + " is damaged: " + damage.reason() + ". It "
                    + "is on a read-only file system: copy it to a writable one, "
                    + "and run `sas recover --accept-loss` there to continue with what was committed before the "
                    + "damage", damage);
        }
        if (damage != null && losses == null) {
            throw damage;
        }
        ranges.clear();
        if (damage == null && limit != Long.MAX_VALUE) {
            // The pool, which knows of it, is gone from here on.
            log.cutOff(limit);
        }
        pages.remake();
        if (damage == null) {
            log.restart(limit);
        } else {
            losses.addAll(log.restartDamaged(damage, limit));
        }
        load();
    }

    /** What the log has after the last checkpoint is left out: it may not be acknowledged. The group has what is. */
    private void rebuildReplica(Path archive) throws IOException {
        if (archive != null) {
            takeFiles(archive);
        }
        long limit = log.openReplica();
        ranges.clear();
        pages.remake();
        log.restart(limit);
        load();
    }

    /** Replaces the containers' files. The log of the old ones is of no use any more. */
    private void takeFiles(Path archive) throws IOException {
        StoreSettings its = StoreSettings.read(directory);
        try (var files = Files.list(directory)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".container") || one.endsWith(StoreFiles.LOG)
                    || one.endsWith(StoreFiles.UNAPPLIED)).toList()) {
                Files.delete(file);
            }
        }
        StoreArchive.extract(archive, directory);
        StoreSettings.read(directory).withPool(its.pool()).write(directory);
    }

    private void load() throws IOException {
        findRanges();
        DirectoryReader.requirePresent(ranges);
        var waiting = Unapplied.units(directory);
        for (Range range : ranges.all()) {
            if (range != null && range.units().anyMatch(waiting::contains)) {
                ContainerFile.loadNothing(pages, range);
            } else if (range != null) {
                ContainerFile.load(pages, range, pages.channel());
            }
        }
        DirectoryReader.markMissing(ranges);
        pages.trust();
    }

    private void findRanges() throws IOException {
        try (var files = Files.newDirectoryStream(directory, "*.container")) {
            for (Path path : files) {
                Range range = ContainerFile.readHeader(pages, path);
                if (range != null) {
                    ranges.add(range);
                }
            }
        }
    }

    /** Whether the reference names an object that is there, or one that an open transaction destroys. */
    public boolean isObject(long reference) {
        return ranges.isObject(reference);
    }

    /** @throws dev.norn.sas.exception.ObjectDestroyed if the reference names no object that is there */
    public void requireObject(long reference) {
        ranges.requireObject(reference);
    }

    /**
     * The hash code of an object that has one of its own, which never changes.
     *
     * @throws dev.norn.sas.exception.ObjectDestroyed if it is not there
     */
    public int hashOf(long reference) {
        requireObject(reference);
        int hash = Memory.getInt(hashPlace(offsetOf(reference), Memory.getLong(offsetOf(reference))));
        requireObject(reference);
        requireAttached();
        return hash;
    }

    /** Waits until no transaction writes the object; {@link #isStill} then says whether one has meanwhile. */
    public long quiet(long reference) {
        requireObject(reference);
        containerOf(reference).check();
        long quiet = locks.quiet(reference);
        if (!isObject(reference) || isDestroyed(Memory.getLong(offsetOf(reference)))) {
            throw RangeTable.destroyed(reference);
        }
        return quiet;
    }

    /** Waits until all is durable that was committed before. */
    public void awaitDurable() {
        awaitDurableUpTo(Memory.getVolatile(LOG_TAIL));
    }

    /** Waits until that is durable which was read of an object without a lock. */
    public void awaitDurable(long reference) {
        awaitDurableUpTo(unsynced(reference));
    }

    /**
     * Waits until the log is durable up to a position. Who has appended syncs it, too, so this needs no slot if none is
     * free.
     *
     * @throws StorageWriteFailure if a sync fails, or has failed
     */
    void awaitDurableUpTo(long end) {
        for (int spins = 0; Memory.getVolatile(LOG_SYNCED) < end; spins++) {
            TransactionSlot slot = slots.tryClaim();
            if (slot != null) {
                sync(slot, end);
                return;
            }
            Backoff.pause(spins);
            if (spins % Backoff.SPINS == Backoff.SPINS - 1) {
                recovery.reap();
            }
        }
    }

    private void sync(TransactionSlot slot, long end) {
        try {
            log.sync(slot, end);
        } finally {
            slots.release(slot);
        }
    }

    /** A number that is another one once somebody has changed the object; other changes make it another one, too. */
    public long unsynced(long reference) {
        return Unsynced.of(offsetOf(reference));
    }

    /** Whether no slot has held the object exclusively since {@link #quiet} returned this, and it is there. */
    public boolean isStill(long reference, long quiet) {
        // In this order: another object in its place may have a lock word like this one's, but no such reference.
        return Locks.isStill(offsetOf(reference), quiet) && isObject(reference);
    }

    /** The container of an object. */
    public Range containerOf(long reference) {
        return ranges.of(offsetOf(reference));
    }

    /** Processes that are attached, this one among them. */
    public int livingProcesses() {
        return attachments.others() + 1;
    }

    /** Transactions that have begun and not ended, those of dead processes among them. */
    public int openTransactions() {
        return slots.open();
    }

    /** A number that no other attachment of the store has had within some years. */
    public long incarnation() {
        return pages.incarnation();
    }

    /**
     * Detaches: refuses new transactions, waits for those of this JVM and for what the store does itself, and then ends
     * its attachment. The last one out replays the log into the containers' files.
     *
     * @throws SASException if a transaction does not end in the time that locks are waited for; the store stays open
     *     then
     */
    public void close() {
        if (!isOpen) {
            return;
        }
        closer = Thread.currentThread();
        try {
            slots.awaitEnds();
        } catch (RuntimeException | Error e) {
            closer = null;
            throw e;
        }
        checkpointer.close();
        try {
            attachments.alone(this::closeAlone);
        } finally {
            detach();
        }
    }

    private void closeAlone() throws IOException {
        try {
            if (Memory.getLong(POOL_WRITE_FAILED) != SYNC_FAILED
                    && Memory.getLong(POOL_WRITE_FAILED) != LEADERSHIP_LOST) {
                recovery.reapAlone();
                if (attachments.others() == 0) {
                    checkpoint();
                }
            }
        } finally {
            detach();
        }
    }

    private void detach() {
        if (isOpen) {
            isOpen = false;
            snapshotReaders.close();
            Memory.unmap();
            closeFiles();
        }
    }

    /**
     * @throws StoreClosed if the store is closed. Called after reads outside transactions, for which the close does not
     *     wait
     */
    public void requireAttached() {
        if (!isOpen) {
            throw closed();
        }
    }

    private StoreClosed closed() {
        return new StoreClosed("the store " + this + (isOpen ? " is being closed by another thread" : " was closed"));
    }

    /** @throws StoreClosed if it is, or if another thread is about to close it */
    void requireOpen() {
        if (!isOpen || closer != null && closer != Thread.currentThread()) {
            throw closed();
        }
    }

    /**
     * Brings the containers' files up to what is committed now; transactions continue. Costs as much as reading the log
     * and writing the pages that it changes.
     */
    public void checkpoint() {
        TransactionSlot slot = slots.claim();
        try {
            log.checkpoint(slot);
        } finally {
            slots.release(slot);
        }
    }

    /** The same, once more than a share of the log is in use and if no checkpoint runs already. */
    public void relieve(double share) {
        if (!log.isNearlyFull(share)) {
            return;
        }
        TransactionSlot slot = slots.claim();
        try {
            log.relieve(slot);
        } finally {
            slots.release(slot);
        }
    }

    /** Undoes what dead processes and ended threads left, and {@link #relieve}s the log. */
    public void tend(double share) {
        recovery.reap();
        relieve(share);
    }

    /**
     * Copies the store as of one moment into a new directory. Transactions continue until the log is full, then they
     * wait. Costs as much as reading and writing all containers.
     */
    public void backup(Path copy) throws IOException {
        if (Files.exists(copy)) {
            throw new SASException(copy + " exists already: a backup needs a new directory");
        }
        if (copy.toAbsolutePath().normalize().startsWith(origin.normalize())) {
            throw new SASException("the backup " + copy + " would be inside the store " + origin
                    + ": name a directory outside");
        }
        Files.createDirectory(copy);
        try {
            copyInto(copy);
        } catch (IOException | RuntimeException e) {
            StoreFiles.remove(copy);
            StoreFiles.removeEmpty(copy, copy);
            throw e;
        }
    }

    private void copyInto(Path copy) throws IOException {
        TransactionSlot slot = slots.claim();
        try {
            log.checkpointAnd(slot, () -> {
                try (var files = Files.list(directory)) {
                    List<Path> changing = files.filter(Files::isRegularFile)
                            .filter(path -> path.toString().endsWith(".container")
                                    || path.endsWith(StoreFiles.UNAPPLIED)).toList();
                    for (Path path : changing) {
                        StoreFiles.copy(path, copy.resolve(path.getFileName()));
                    }
                }
            });
        } finally {
            slots.release(slot);
        }
        StoreSettings.read(directory).withPool(null).withLog(null).write(copy);
    }

    /**
     * Has programs refuse the store that do not know of rules for destroying. The caller has the directory locked
     * exclusively, so that nobody else writes the settings: one who attaches does so only where no log was made yet.
     */
    void requireDestroyRules() {
        try {
            StoreSettings settings = StoreSettings.read(directory);
            if (settings.format() < StoreSettings.FORMAT_DESTROYS) {
                settings.withFormat(StoreSettings.FORMAT_DESTROYS).write(directory);
            }
        } catch (IOException e) {
            throw new dev.norn.sas.exception.StorageWriteFailure("cannot change store.properties of " + this + ": "
                    + StoreFiles.reason(e), e);
        }
    }

    /** Counts since the pool was made, by all processes. */
    public record Counts(long commits, long syncs, long loggedBytes, long checkpoints) {}

    /** Counts since the pool was made. */
    public Counts counts() {
        return new Counts(Memory.getLong(COMMIT_COUNT), Memory.getLong(SYNC_COUNT), Memory.getLong(LOGGED_BYTES),
                Memory.getLong(CHECKPOINT_COUNT));
    }

    /** Bytes of the log between its beginning and its end. */
    public long logBytesUsed() {
        return RedoLog.used();
    }

    private void closeFiles() {
        try {
            log.close();
            pages.close();
            // When the attachment has ended, others take its place.
            attachments.close();
            if (copy != null) {
                copy.close();
            }
        } catch (IOException e) {
            throw new StorageWriteFailure("cannot close the files of " + directory, e);
        }
    }

    public boolean isOpen() {
        return isOpen;
    }

    /** Begins recovery of what was abandoned now. */
    void wakeCheckpointer() {
        checkpointer.wake();
    }

    /**
     * Waits until a majority has a transaction of this leader.
     *
     * @throws OutcomeUnknown if the leadership is lost before
     */
    void awaitAcknowledged(long end, long number) {
        try {
            Replication.awaitAcknowledged(pages, log, end);
        } catch (StorageWriteFailure e) {
            throw outcomeUnknown(number, e);
        }
    }

    private OutcomeUnknown outcomeUnknown(long number, StorageWriteFailure reason) {
        long epoch = Memory.getLong(offsetOf(Memory.getLong(REPLICA_STATE)) + REPLICA_EPOCH);
        return new OutcomeUnknown("the transaction " + number + " of epoch " + epoch + " may be committed or not: "
                + this + " lost the leadership of its group before a majority had acknowledged it", epoch, number,
                reason);
    }

    /** Where the files are that this JVM uses. */
    public Path directory() {
        return directory;
    }

    @Override
    public String toString() {
        return origin.toString();
    }

    /** Whether nothing can be changed. */
    boolean isReadOnly() {
        return copy != null;
    }

    /** Reads records that are in the log, from a position on; returns the position after them. */
    public long readLog(long from, long bytesMax, java.util.function.Consumer<java.nio.ByteBuffer> sink)
            throws IOException {
        return log.read(from, bytesMax, sink);
    }

    RedoLog log() {
        return log;
    }

    public Recovery recovery() {
        return recovery;
    }

    public Allocator allocator() {
        return allocator;
    }

    /** Called after each commit. */
    void logHasGrown() {
        // The directory is made before.
        if (checkpointer != null) {
            checkpointer.look();
        }
    }

    SnapshotReaders snapshotReaders() {
        return snapshotReaders;
    }

    /** What is committed now, for a read-only transaction, which has to close it. */
    public Snapshot snapshot() {
        return new Snapshot(this);
    }

    Locks locks() {
        return locks;
    }

    public SlotTable slots() {
        return slots;
    }

    public RangeTable ranges() {
        return ranges;
    }

    public PagePool pages() {
        return pages;
    }
}
