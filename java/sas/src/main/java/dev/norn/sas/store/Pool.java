package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import dev.norn.sas.SASException;
import dev.norn.sas.StorageReadFailure;
import dev.norn.sas.StorageWriteFailure;
import dev.norn.sas.StoreClosed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * The shared mapped page pool of a store, and the store's files. The pool is trusted within one boot of the machine
 * only; otherwise it is made anew from the containers' files, after the log was replayed into them.
 *
 * <p>Files of a store's directory: {@code store.properties}, {@code lock}, {@code redo.log}, {@code pool}, and
 * {@code NAME.container}.
 */
public final class Pool {
    /**
     * Tens of microseconds, as long as a transaction holds a lock, or a record takes to be written. Sleeping takes as
     * long as several transactions.
     */
    static final int SPINS = 1000;

    private final Path store;
    /** A private copy of the store's files if the store cannot be written; else null. */
    private final PrivateCopy copy;
    /** Where the files are that this JVM uses: the store's, or the copy's. */
    final Path directory;
    final StoreSettings settings;
    private final PoolFile file;
    private final Attachments attachments;
    private final RedoLog log;
    private final Recovery recovery;
    private final Heap heap;
    private final Locks locks;
    private final WaitQueues waitQueues = new WaitQueues();
    private Checkpointer checkpointer;
    private final RangeTable ranges = new RangeTable(this);
    private final SlotTable slots = new SlotTable(this);
    /** What was lost with a damaged log; null if that is not accepted. */
    private final List<String> losses;
    private long incarnation;
    private volatile boolean isOpen;
    /** The thread that closes the store, from when it refuses transactions; null while it is open. */
    private volatile Thread closer;

    private Pool(Path store, PrivateCopy copy, List<String> losses) throws IOException {
        this.store = store;
        this.copy = copy;
        this.losses = losses;
        directory = copy == null ? store : copy.directory();
        settings = StoreSettings.read(directory);
        file = new PoolFile(this, settings.pool() == null ? directory.resolve("pool") : Path.of(settings.pool()));
        attachments = new Attachments(directory);
        log = new RedoLog(this, directory.resolve(LogFile.NAME));
        recovery = new Recovery(this);
        heap = new Heap(this);
        locks = new Locks(this, settings.lockTimeoutMillis() * 1_000_000L);
    }

    /**
     * Attaches this JVM to the store in {@code directory}: makes the pool if it is not there or not to be trusted, and
     * rolls back what dead processes left. Costs as much as reading all containers when the pool has to be made.
     *
     * @throws StorageReadFailure if a file cannot be read or is not of this store
     */
    public static Pool attach(Path directory) {
        return attach(directory, null);
    }

    /**
     * Brings the containers' files up to date, also when the log is damaged: what was committed before the damage is
     * kept. No other program uses the store.
     *
     * @return what was lost; nothing if the log is whole
     */
    public static List<String> recover(Path directory) {
        List<String> losses = new ArrayList<>();
        Pool pool = attach(directory, losses);
        try {
            if (pool.isReadOnly()) {
                throw new StorageWriteFailure("the store " + directory + " is on a read-only file system", null);
            }
        } finally {
            pool.close();
        }
        return losses;
    }

    private static Pool attach(Path directory, List<String> losses) {
        Pool pool = null;
        try {
            PrivateCopy copy = PrivateCopy.isNeeded(directory) ? PrivateCopy.ofReadOnly(directory) : null;
            pool = new Pool(directory, copy, losses);
            Pool attached = pool;
            pool.attachments.alone(attached::attachAlone);
            pool.checkpointer = new Checkpointer(pool);
            return pool;
        } catch (IOException e) {
            throw new StorageReadFailure("cannot attach to the store " + directory + ": " + StoreFiles.reason(e), e);
        } catch (RuntimeException e) {
            if (pool != null) {
                Memory.unmap();
                pool.closeFiles();
            }
            throw e;
        }
    }

    private void attachAlone() throws IOException {
        boolean isShared = attachments.others() > 0;
        file.open(isShared);
        file.map();
        boolean isTrusted = file.isTrusted(isShared);
        if (isShared && !isTrusted) {
            throw new StorageReadFailure("the store " + directory + " is used by " + attachments.describeOther() + ", whose pool " + file
                    + " this process cannot use: it is of another version of SAS or another machine; end that process first");
        }
        if (isTrusted) {
            // A container has no file before the first checkpoint; the others are found by the directory when they are
            // met.
            Directory.addSystem(this);
        }
        if (isTrusted && isShared) {
            openSharedLog();
        } else if (isTrusted && !Directory.hasFileBack(this)) {
            openLog();
        } else {
            rebuild();
        }
        recovery.reapAlone();
        register();
        isOpen = true;
        if (ranges.ofNumber(0) == null || Directory.isUndone(this)) {
            Directory.format(this);
        }
    }

    /** Opens the log that other processes use. */
    private void openSharedLog() throws IOException {
        try {
            log.open();
        } catch (LogDamaged e) {
            throw new StorageReadFailure("the log of " + store + ", which other programs use, is damaged: " + e.reason()
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
            ContainerFile.saveAll(this, Directory.containers(this).stream().map(entry -> Directory.range(this, entry)).toList());
            log.name();
            System.err.println("sas: the log of " + store + " was damaged: " + damage.reason() + "; nothing is lost, "
                    + "because the pool has all committed changes"
                    + (kept == null ? "" : "; the log is kept in " + kept));
        }
        Memory.putVolatile(POOL_WRITE_FAILED, 0);
    }

    private void rebuild() throws IOException {
        long synced = file.isOfThisBoot() ? Memory.getLong(LOG_SYNCED) : 0;
        // What a failed sync left in the page cache is not to be taken for durable.
        long limit = file.isOfThisBoot() && Memory.getLong(POOL_WRITE_FAILED) == SYNC_FAILED ? synced : Long.MAX_VALUE;
        LogDamaged damage = log.findDamage(synced);
        if (damage != null && isReadOnly()) {
            throw new StorageReadFailure("the log of the store " + store + " is damaged: " + damage.reason() + ". It "
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
        file.remake();
        if (damage == null) {
            log.restart(limit);
        } else {
            losses.addAll(log.restartDamaged(damage, limit));
        }
        findRanges();
        Directory.requirePresent(this);
        var waiting = Unapplied.units(directory);
        for (Range range : ranges.all()) {
            if (range != null && range.units().anyMatch(waiting::contains)) {
                ContainerFile.loadNothing(this, range);
            } else if (range != null) {
                ContainerFile.load(this, range, file.channel());
            }
        }
        Directory.markMissing(this);
        file.trust();
    }

    private void findRanges() throws IOException {
        try (var files = Files.newDirectoryStream(directory, "*.container")) {
            for (Path path : files) {
                Range range = ContainerFile.readHeader(this, path);
                if (range != null) {
                    ranges.add(range);
                }
            }
        }
    }

    /** Whether the reference names an object that is there, or one that an open transaction destroys. */
    public boolean isObject(long reference) {
        long offset = offsetOf(reference);
        Range range = ranges.find(offset);
        return range != null && range.startsAt(offset) && generationOf(Memory.getLong(offset)) == generationOfReference(reference);
    }

    /** @throws dev.norn.sas.ObjectDestroyed if the reference names no object that is there */
    public void requireObject(long reference) {
        if (!isObject(reference)) {
            throw destroyed(reference);
        }
    }

    /**
     * The hash code of an object that has one of its own, which never changes.
     *
     * @throws dev.norn.sas.ObjectDestroyed if it is not there
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
            throw destroyed(reference);
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
            Slot slot = slots.tryClaim();
            if (slot != null) {
                sync(slot, end);
                return;
            }
            idle(spins);
            if (spins % SPINS == SPINS - 1) {
                recovery.reap();
            }
        }
    }

    private void sync(Slot slot, long end) {
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

    static dev.norn.sas.ObjectDestroyed destroyed(long reference) {
        return new dev.norn.sas.ObjectDestroyed("the object at " + Long.toHexString(offsetOf(reference)) + " with generation "
                + generationOfReference(reference) + " has been destroyed");
    }

    /** The container of an object. */
    public Range containerOf(long reference) {
        return ranges.of(offsetOf(reference));
    }

    private void register() throws IOException {
        incarnation = Memory.getLong(NEXT_INCARNATION);
        Memory.putLong(NEXT_INCARNATION, incarnation + 1);
        attachments.join(incarnation);
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
        return incarnation;
    }

    /**
     * Detaches: refuses new transactions, waits for those of this JVM, and then ends its attachment. The last one out
     * replays the log into the containers' files.
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
            if (Memory.getLong(POOL_WRITE_FAILED) != SYNC_FAILED) {
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
            Memory.unmap();
            closeFiles();
        }
    }

    /** @throws StoreClosed if it is: comes behind reads outside transactions, for which nobody waits who closes it */
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
     * Brings the containers' files up to what is committed now; transactions go on. Costs as much as reading the log
     * and writing the pages that it changes.
     */
    public void checkpoint() {
        Slot slot = slots.claim();
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
        Slot slot = slots.claim();
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
     * Copies the store as of one moment into a new directory, while transactions go on: until the log is full, then
     * they wait. Costs as much as reading and writing all containers.
     */
    public void backup(Path copy) throws IOException {
        if (Files.exists(copy)) {
            throw new SASException(copy + " exists already: a backup needs a new directory");
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
        Slot slot = slots.claim();
        try {
            log.checkpointAnd(slot, () -> {
                try (var files = Files.list(directory)) {
                    for (Path path : files.filter(path -> path.toString().endsWith(".container") || path.endsWith(Unapplied.NAME)).filter(Files::isRegularFile).toList()) {
                        ContainerFile.copy(path, copy.resolve(path.getFileName()));
                    }
                }
            });
        } finally {
            slots.release(slot);
        }
        settings.withPool(null).withLog(null).write(copy);
    }

    /** Counts since the pool was made, by all processes. */
    public record Counts(long commits, long syncs, long loggedBytes, long checkpoints) {}

    /** Counts since the pool was made. */
    public Counts counts() {
        return new Counts(Memory.getLong(COMMIT_COUNT), Memory.getLong(SYNC_COUNT), Memory.getLong(LOGGED_BYTES), Memory.getLong(CHECKPOINT_COUNT));
    }

    /** Bytes of the log between its beginning and its end. */
    public long logBytesUsed() {
        return RedoLog.used();
    }

    private void closeFiles() {
        try {
            log.close();
            file.close();
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

    void idle(int spins) {
        if (spins < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(Math.min(1_000_000, 20_000L * (spins - SPINS + 1)));
        }
    }

    Attachments attachments() {
        return attachments;
    }

    @Override
    public String toString() {
        return store.toString();
    }

    /** Whether nothing can be changed. */
    boolean isReadOnly() {
        return copy != null;
    }

    RedoLog log() {
        return log;
    }

    Recovery recovery() {
        return recovery;
    }

    Heap heap() {
        return heap;
    }

    /** Called behind each commit. */
    void logHasGrown() {
        // The directory is made before.
        if (checkpointer != null) {
            checkpointer.look();
        }
    }

    Locks locks() {
        return locks;
    }

    SlotTable slots() {
        return slots;
    }

    RangeTable ranges() {
        return ranges;
    }

    PoolFile file() {
        return file;
    }

    WaitQueues waitQueues() {
        return waitQueues;
    }
}
