package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import dev.norn.sas.SASException;
import dev.norn.sas.StorageReadFailure;
import dev.norn.sas.StorageWriteFailure;
import dev.norn.sas.StoreClosed;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

/**
 * The shared mapped page pool of a store, and the store's files. The pool is trusted within one boot of the machine
 * only; otherwise it is made anew from the containers' files, after the log was replayed into them.
 *
 * <p>Files of a store's directory: {@code store.properties}, {@code lock}, {@code redo.log}, {@code pool}, and
 * {@code NAME.container}.
 */
public final class Pool {
    private static final byte[] ZEROS = new byte[1 << 16];
    /**
     * Tens of microseconds, as long as a transaction holds a lock, or a record takes to be written. Sleeping takes as
     * long as several transactions.
     */
    static final int SPINS = 1000;

    /** How long the first who waits for a slot lets others have one before him. */
    private static final long OVERTAKEN_NANOS = 1_000_000;
    /** How often those behind him look whether the store is closed. */
    private static final long QUEUED_NANOS = 20_000_000;
    /** Room on the stack for claiming a slot, and for giving it back. */
    private static final int FRAMES = 6;
    /** Whose a slot is that this JVM uses for itself. */
    private static final Work.Tenant SELF = tenant("the store itself", true);
    /** Whose a transaction is whose end failed half-way. */
    private static final Work.Tenant NOBODY = tenant("a transaction whose end failed", false);

    private static Work.Tenant tenant(String name, boolean isAlive) {
        return new Work.Tenant() {
            @Override
            public boolean isAlive() {
                return isAlive;
            }

            @Override
            public void evict(Runnable undo) {
                undo.run();
            }

            @Override
            public String toString() {
                return name;
            }
        };
    }

    private final Path store;
    /** Of the store's files if nobody can write where it is; else null. */
    private final PrivateCopy copy;
    /** Where the files are that this JVM uses: the store's, or the copy's. */
    final Path directory;
    final Settings settings;
    private final Path file;
    private NativeFile channel;
    private final Attachments attachments;
    private final RedoLog log;
    private final Recovery recovery;
    private final Heap heap;
    private final Locks locks;
    private final WaitQueues waitQueues = new WaitQueues();
    /** The first who waits for a slot has waited for long. */
    private volatile boolean areSlotsWaitedFor;
    private Checkpointer checkpointer;
    private volatile Range[] ranges = new Range[8];
    private final Range[] rangesByUnit = new Range[(int) (Memory.SPACE >> CONTAINER_ALIGNMENT_BITS)];
    /** Of each slot that this JVM has or is about to claim, whose it is. */
    private final AtomicReferenceArray<Work.Tenant> tenants = new AtomicReferenceArray<>(SLOTS_MAX);
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
        settings = Settings.read(directory);
        file = settings.pool() == null ? directory.resolve("pool") : Path.of(settings.pool());
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
        open(isShared);
        if (channel.size() < settings.addressBytes()) {
            channel.write(ByteBuffer.allocate(1), settings.addressBytes() - 1);
        }
        Memory.map(channel, settings.addressBytes());
        boolean isTrusted = isTrusted(isShared);
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
        if (range(0) == null || Directory.isUndone(this)) {
            Directory.format(this);
        }
    }

    /**
     * Opens the pool's file: the one that others use, if there are any.
     *
     * @throws StorageReadFailure if the file is not there any more, or another one: what two pools have would both be
     *     acknowledged, and one of them lost
     */
    private void open(boolean isShared) throws IOException {
        if (isShared && Files.notExists(file)) {
            throw new StorageReadFailure("the pool " + file + " was removed while " + attachments.describeOther() + " uses it: end that process first, nothing is lost then");
        }
        channel = NativeFile.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        if (isShared && !attachments.use(channel.identity())) {
            throw new StorageReadFailure("the pool " + file + " is not the one that " + attachments.describeOther()
                    + " uses, which was removed or replaced: end that process first, nothing is lost then");
        }
        if (!isShared && channel.lockedAt(0, 1) >= 0) {
            throw new StorageReadFailure("the pool " + file + " is used by a process that is not attached to " + directory
                    + ": another store has the same pool, or the file lock was removed; end that process first");
        }
        // For whoever has another lock file.
        channel.tryLockShared(0);
        attachments.note(channel.identity());
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
     * Opens the log of a pool that is trusted, and that nobody else uses. The pool has all that was committed: if the
     * log is damaged, the containers' files are written from the pool.
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
            System.err.println("sas: the log of " + store + " was damaged: " + damage.reason() + "; nothing is lost, as the pool has all that was committed"
                    + (kept == null ? "" : "; the log is kept in " + kept));
        }
        Memory.putVolatile(POOL_WRITE_FAILED, 0);
    }

    /** Whether the pool is as the store's processes left it, and no sync has failed. While others use it, it is. */
    private boolean isTrusted(boolean isShared) throws IOException {
        return isOfThisBoot() && (Memory.getLong(POOL_WRITE_FAILED) != SYNC_FAILED || isShared);
    }

    /**
     * Whether the pool is this store's, with the lock file and the log that the store has, and of this boot of the
     * machine.
     */
    private boolean isOfThisBoot() throws IOException {
        long[] boot = Attachments.boot();
        UUID log = new UUID(Memory.getLong(LOG_IDENTITY_HIGH), Memory.getLong(LOG_IDENTITY_LOW));
        NativeFile.Identity lock = new NativeFile.Identity(Memory.getLong(POOL_LOCK_DEVICE), Memory.getLong(POOL_LOCK_INODE));
        return Memory.getLong(POOL_MAGIC) == MAGIC && Memory.getLong(POOL_VERSION) == VERSION
                && Memory.getLong(POOL_STORE_HIGH) == settings.store().getMostSignificantBits()
                && Memory.getLong(POOL_STORE_LOW) == settings.store().getLeastSignificantBits()
                && Memory.getLong(POOL_BOOT_HIGH) == boot[0] && Memory.getLong(POOL_BOOT_LOW) == boot[1]
                && lock.equals(attachments.identity()) && Memory.getLong(POOL_VALID) == 1 && log.equals(Settings.read(directory).log());
    }

    private void rebuild() throws IOException {
        long synced = isOfThisBoot() ? Memory.getLong(LOG_SYNCED) : 0;
        // What a failed sync left in the page cache is not to be taken for durable.
        long limit = isOfThisBoot() && Memory.getLong(POOL_WRITE_FAILED) == SYNC_FAILED ? synced : Long.MAX_VALUE;
        LogDamaged damage = log.findDamage(synced);
        if (damage != null && isReadOnly()) {
            throw new StorageReadFailure("the log of the store " + store + " is damaged: " + damage.reason() + ". It is on a read-only file system: copy it to where it can be written, "
                    + "and let `sas recover --accept-loss` go on there with what was committed before the damage", damage);
        }
        if (damage != null && losses == null) {
            throw damage;
        }
        Memory.unmap();
        ranges = new Range[8];
        java.util.Arrays.fill(rangesByUnit, null);
        channel.truncate(0);
        channel.write(ByteBuffer.allocate(1), settings.addressBytes() - 1);
        Memory.map(channel, settings.addressBytes());
        back(0, 1 << 20);
        if (damage == null) {
            log.restart(limit);
        } else {
            losses.addAll(log.restartDamaged(damage, limit));
        }
        findRanges();
        Directory.requirePresent(this);
        var waiting = Unapplied.units(directory);
        for (Range range : ranges) {
            if (range != null && range.units().anyMatch(waiting::contains)) {
                ContainerFile.loadNothing(this, range);
            } else if (range != null) {
                ContainerFile.load(this, range, channel);
            }
        }
        Directory.markMissing(this);
        long[] boot = Attachments.boot();
        Memory.putLong(NEXT_INCARNATION, System.currentTimeMillis() / 1000 & 0x3FFF_FFFF);
        Memory.putLong(POOL_BOOT_HIGH, boot[0]);
        Memory.putLong(POOL_BOOT_LOW, boot[1]);
        Memory.putLong(POOL_STORE_HIGH, settings.store().getMostSignificantBits());
        Memory.putLong(POOL_STORE_LOW, settings.store().getLeastSignificantBits());
        Memory.putLong(POOL_LOCK_DEVICE, attachments.identity().device());
        Memory.putLong(POOL_LOCK_INODE, attachments.identity().inode());
        Memory.putLong(POOL_VERSION, VERSION);
        Memory.putLong(POOL_MAGIC, MAGIC);
        Memory.putVolatile(POOL_VALID, 1);
    }

    private void findRanges() throws IOException {
        try (var files = Files.newDirectoryStream(directory, "*.container")) {
            for (Path path : files) {
                Range range = ContainerFile.readHeader(this, path);
                if (range != null) {
                    add(range);
                }
            }
        }
    }

    /** Makes a range known in this JVM. */
    synchronized Range add(Range range) {
        Range[] all = ranges;
        if (all.length <= range.id) {
            all = java.util.Arrays.copyOf(all, range.id + 8);
        }
        all[range.id] = range;
        range.noteDamage();
        for (long at = range.base; at < range.base + Range.span(range.pagesMax); at += 1L << CONTAINER_ALIGNMENT_BITS) {
            rangesByUnit[(int) (at >> CONTAINER_ALIGNMENT_BITS)] = range;
        }
        ranges = all;
        return range;
    }

    /** The making of the container that begins here was undone. */
    synchronized void forget(long base) {
        Range known = rangesByUnit[(int) (base >> CONTAINER_ALIGNMENT_BITS)];
        if (known == null) {
            return;
        }
        for (int i = 0; i < rangesByUnit.length; i++) {
            rangesByUnit[i] = rangesByUnit[i] == known ? null : rangesByUnit[i];
        }
        Range[] all = ranges.clone();
        all[known.id] = all[known.id] == known ? null : all[known.id];
        ranges = all;
    }

    /** The container with this number; null if this JVM has not met it. */
    Range range(int id) {
        return id < ranges.length ? ranges[id] : null;
    }

    Range[] ranges() {
        return ranges;
    }

    /** The container that holds the offset. */
    Range rangeOf(long offset) {
        Range range = findRange(offset);
        if (range == null) {
            throw new dev.norn.sas.ObjectDestroyed("no container is at " + Long.toHexString(offset));
        }
        return range;
    }

    /** The same, or null if there is none. */
    Range findRange(long offset) {
        Range range = rangesByUnit[(int) (offset >> CONTAINER_ALIGNMENT_BITS)];
        return range != null || offset < CONTAINERS ? range : Directory.findRange(this, offset);
    }

    /** Whether the reference names an object that is there, or one that an open transaction destroys. */
    public boolean isObject(long reference) {
        long offset = offsetOf(reference);
        Range range = findRange(offset);
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

    /**
     * Waits until the log is durable up to a position.
     *
     * @param slot that of a transaction; null for a slot of the store's own
     * @throws StorageWriteFailure if a sync fails, or has failed
     */
    void awaitDurable(Slot slot, long end) {
        if (Memory.getVolatile(LOG_SYNCED) >= end) {
            return;
        }
        Slot its = slot == null ? claim() : slot;
        try {
            log.sync(its, end);
        } finally {
            if (slot == null) {
                release(its);
            }
        }
    }

    /** Waits until that is durable which was read of an object without a lock. */
    public void awaitDurable(long reference) {
        awaitDurable(null, Unsynced.of(offsetOf(reference)));
    }

    public boolean isStill(long offset, long quiet) {
        return Locks.isStill(offset, quiet);
    }

    static dev.norn.sas.ObjectDestroyed destroyed(long reference) {
        return new dev.norn.sas.ObjectDestroyed("the object at " + Long.toHexString(offsetOf(reference)) + " with generation "
                + generationOfReference(reference) + " has been destroyed");
    }

    /** The container of an object. */
    public Range containerOf(long reference) {
        return rangeOf(offsetOf(reference));
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
        int count = 0;
        for (int i = 0; i < SLOTS_MAX; i++) {
            // The store has a slot itself while it replays the log, but no transaction in it.
            count += Memory.getVolatile(slotHead(i) + SLOT_OWNER) != 0 && new Slot(this, i).state() != STATE_FREE ? 1 : 0;
        }
        return count;
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
            awaitTransactions();
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

    private void awaitTransactions() {
        long start = System.nanoTime();
        for (int spins = 0;; spins++) {
            Work.Tenant its = anyTenant();
            if (its == null) {
                return;
            }
            if (System.nanoTime() - start > settings.lockTimeoutMillis() * 1_000_000) {
                throw new SASException("the store " + this + " cannot be closed, and stays open: " + its + " has not ended its transaction within " + settings.lockTimeoutMillis() + " ms");
            }
            recovery.reap();
            idle(spins);
        }
    }

    private Work.Tenant anyTenant() {
        for (int i = 0; i < SLOTS_MAX; i++) {
            Work.Tenant its = tenants.get(i);
            if (its != null) {
                return its;
            }
        }
        return null;
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
        Slot slot = claim();
        try {
            log.checkpoint(slot);
        } finally {
            release(slot);
        }
    }

    /** The same, once more than a share of the log is in use and if nobody is at it already. */
    public void relieve(double share) {
        if (!log.isNearlyFull(share)) {
            return;
        }
        Slot slot = claim();
        try {
            log.relieve(slot);
        } finally {
            release(slot);
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
            throw new SASException(copy + " is there already: a backup is made in a new directory");
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
        Slot slot = claim();
        try {
            log.checkpointAnd(slot, () -> {
                try (var files = Files.list(directory)) {
                    for (Path path : files.filter(path -> path.toString().endsWith(".container") || path.endsWith(Unapplied.NAME)).filter(Files::isRegularFile).toList()) {
                        ContainerFile.copy(path, copy.resolve(path.getFileName()));
                    }
                }
            });
        } finally {
            release(slot);
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
            if (channel != null) {
                channel.close();
            }
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

    /**
     * Gives a slot back, in which nothing is left to do. May be done again when it was cut off: nobody else of this JVM
     * has the slot before it is done.
     */
    void release(Slot slot) {
        try {
            if (slot.owner() == incarnation) {
                Latch.recover(slot);
                slot.release();
            }
            tenants.set(slot.index, null);
            if (areSlotsWaitedFor) {
                waitQueues.wakeFirst(WaitQueues.SLOTS);
            }
        } catch (IOException e) {
            abandon(slot.index);
            wakeCheckpointer();
        }
    }

    /** Forgets those who are gone and have no slot any more. */
    void forgetGone() {
        for (int i = 0; i < SLOTS_MAX; i++) {
            Work.Tenant its = tenants.get(i);
            if (its != null && !its.isAlive() && Memory.getVolatile(slotHead(i) + SLOT_OWNER) != incarnation) {
                tenants.compareAndSet(i, its, null);
            }
        }
    }

    /** Leaves a slot of this JVM to recovery. */
    void abandon(int slot) {
        tenants.set(slot, NOBODY);
    }

    /** Begins recovery of what was abandoned now. */
    void wakeCheckpointer() {
        checkpointer.wake();
    }

    /** Whether a slot is left to recovery still. */
    boolean hasAbandoned() {
        for (int i = 0; i < SLOTS_MAX; i++) {
            if (tenants.get(i) == NOBODY) {
                return true;
            }
        }
        return false;
    }

    /** Whose of this JVM's the slot is, if his thread has ended; else null. */
    Work.Tenant gone(int slot) {
        Work.Tenant its = tenants.get(slot);
        return its != null && !its.isAlive() && Memory.getVolatile(slotHead(slot) + SLOT_OWNER) == incarnation ? its : null;
    }

    /** Claims a slot for something that this JVM does on its own. */
    Slot claim() {
        return claim(SELF);
    }

    /**
     * Claims a slot; waits while all are taken.
     *
     * @throws StoreClosed if the store is closed, or about to be
     */
    Slot claim(Work.Tenant its) {
        StackRoom.require(FRAMES);
        Slot slot = areSlotsWaitedFor ? null : tryClaim(its);
        return slot == null ? claimQueued(its) : slot;
    }

    private Slot tryClaim(Work.Tenant its) {
        for (int i = 0; i < SLOTS_MAX; i++) {
            int index = (int) ((i + incarnation) % SLOTS_MAX);
            if (Memory.getVolatile(slotHead(index) + SLOT_OWNER) == 0) {
                Slot slot = claim(index, its);
                if (slot != null) {
                    return slot;
                }
            }
        }
        return null;
    }

    private Slot claimQueued(Work.Tenant its) {
        long start = System.nanoTime();
        Queue<Thread> queue = waitQueues.join(WaitQueues.SLOTS);
        try {
            for (int spins = 0;; spins++) {
                if (!WaitQueues.isFirst(queue)) {
                    requireOpen();
                    LockSupport.parkNanos(this, QUEUED_NANOS);
                    continue;
                }
                Slot slot = tryClaim(its);
                if (slot != null) {
                    return slot;
                }
                areSlotsWaitedFor = System.nanoTime() - start > OVERTAKEN_NANOS;
                idle(spins);
                if (spins % 200 == 199) {
                    recovery.reap();
                }
            }
        } finally {
            areSlotsWaitedFor = false;
            waitQueues.leave(WaitQueues.SLOTS);
        }
    }

    /**
     * Shared memory is touched between two stores that who closes the store looks at, so it is not taken away
     * meanwhile.
     */
    private Slot claim(int index, Work.Tenant its) {
        if (!tenants.compareAndSet(index, null, its)) {
            return null;
        }
        Slot slot = null;
        try {
            requireOpen();
            Slot free = new Slot(this, index);
            slot = free.claim() ? free : null;
            return slot;
        } finally {
            if (slot == null) {
                tenants.set(index, null);
            }
        }
    }

    void idle(int spins) {
        if (spins < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(Math.min(1_000_000, 20_000L * (spins - SPINS + 1)));
        }
    }

    /**
     * Writes zeros into the pool's file, so that stores there need no space that the disk does not have. Nothing may be
     * there yet.
     */
    void back(long offset, long length) {
        try {
            for (long done = 0; done < length;) {
                int step = (int) Math.min(ZEROS.length, length - done);
                done += channel.write(ByteBuffer.wrap(ZEROS, 0, step), offset + done);
            }
        } catch (IOException e) {
            throw new StorageWriteFailure("the pool " + file + " cannot grow: " + e.getMessage(), e);
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

    WaitQueues waitQueues() {
        return waitQueues;
    }

    /** How a store is set up, from {@code store.properties}. */
    record Settings(UUID store, long addressBytes, long logBytes, long lockTimeoutMillis, String pool, UUID log) {
        /** The same with the pool in this file; null for the store's directory. */
        Settings withPool(String path) {
            return new Settings(store, addressBytes, logBytes, lockTimeoutMillis, path, log);
        }

        /** The same with this log; null where none was made yet. */
        Settings withLog(UUID identity) {
            return new Settings(store, addressBytes, logBytes, lockTimeoutMillis, pool, identity);
        }

        static Settings read(Path directory) throws IOException {
            var properties = new java.util.Properties();
            Path path = directory.resolve("store.properties");
            if (!Files.exists(path)) {
                throw new StorageReadFailure(directory + " is no store: it has no store.properties; `sas create` makes one");
            }
            try (var reader = Files.newBufferedReader(path)) {
                properties.load(reader);
            }
            try {
                if (!"1".equals(properties.getProperty("format"))) {
                    throw new StorageReadFailure(path + ": format " + properties.getProperty("format") + " is not 1");
                }
                return new Settings(UUID.fromString(properties.getProperty("store")),
                        Long.parseLong(properties.getProperty("address-bytes")), Long.parseLong(properties.getProperty("log-bytes")),
                        Long.parseLong(properties.getProperty("lock-timeout-millis")), properties.getProperty("pool"),
                        properties.getProperty("log") == null ? null : UUID.fromString(properties.getProperty("log")));
            } catch (IllegalArgumentException | NullPointerException e) {
                throw new StorageReadFailure(path + " is damaged: " + e.getMessage(), e);
            }
        }

        void write(Path directory) throws IOException {
            String text = "format=1\nstore=" + store + "\naddress-bytes=" + addressBytes + "\nlog-bytes=" + logBytes
                    + "\nlock-timeout-millis=" + lockTimeoutMillis + "\n"
                    + (pool == null ? "" : "pool=" + pool.replace("\\", "\\\\") + "\n") + (log == null ? "" : "log=" + log + "\n");
            Path fresh = directory.resolve("store.properties.new");
            Files.writeString(fresh, text);
            ContainerFile.sync(fresh);
            Files.move(fresh, directory.resolve("store.properties"), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            ContainerFile.sync(directory);
        }
    }
}
