package dev.norn.sas.store.memory;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/**
 * The page pool: the memory that all processes of a store share, with the store in the form in which it is used. It is
 * the file {@code pool}, mapped by each of them; this JVM is one of its attachments.
 */
public final class PagePool {
    private static final byte[] ZEROS = new byte[1 << 16];

    /** Where the store's files are. */
    public final Path directory;
    public final StoreSettings settings;
    private final Path path;
    private final Attachments attachments;
    private final WaitQueues waitQueues = new WaitQueues();
    private NativeFile channel;
    private boolean isShared;
    private Recoverer recoverer;
    private long incarnation;

    /** Of the store in a directory. Nothing is mapped before {@link #open} and {@link #map}. */
    public PagePool(Path directory) throws IOException {
        this.directory = directory;
        settings = StoreSettings.read(directory);
        path = settings.pool() == null ? directory.resolve("pool") : Path.of(settings.pool());
        attachments = new Attachments(directory);
    }

    /** Comes before a latch is taken. */
    public void recoverer(Recoverer its) {
        recoverer = its;
    }

    /** Who puts in order what the dead left. */
    public Recoverer recoverer() {
        return recoverer;
    }

    public Attachments attachments() {
        return attachments;
    }

    /** The threads of this JVM that wait for something in the pool. */
    public WaitQueues waitQueues() {
        return waitQueues;
    }

    /** Makes this JVM an attachment of its own. */
    public void register() throws IOException {
        incarnation = Memory.getLong(NEXT_INCARNATION);
        Memory.putLong(NEXT_INCARNATION, incarnation + 1);
        attachments.join(incarnation);
    }

    /** A number that no other attachment of the store has had within some years. */
    public long incarnation() {
        return incarnation;
    }

    /**
     * Opens it: the one that others use, if there are any.
     *
     * @throws StorageReadFailure if the file is not there any more, or another one: what two pools have would both be
     *     acknowledged, and one of them lost
     */
    public void open() throws IOException {
        isShared = attachments.others() > 0;
        if (isShared && Files.notExists(path)) {
            throw new StorageReadFailure("the pool " + path + " was removed while " + attachments.describeOther()
                    + " uses it: end that process first, nothing is lost then");
        }
        channel = NativeFile.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        if (isShared && !attachments.use(channel.identity())) {
            throw new StorageReadFailure("the pool " + path + " is not the one that " + attachments.describeOther()
                    + " uses, which was removed or replaced: end that process first, nothing is lost then");
        }
        if (!isShared && channel.lockedAt(0, 1) >= 0) {
            throw new StorageReadFailure("the pool " + path + " is used by a process that is not attached to "
                    + directory
                    + ": another store has the same pool, or the file lock was removed; end that process first");
        }
        // For processes that have another lock file.
        channel.tryLockShared(0);
        attachments.note(channel.identity());
    }

    /** Maps it, as long as the store's address space. */
    public void map() throws IOException {
        if (channel.size() < settings.addressBytes()) {
            channel.write(ByteBuffer.allocate(1), settings.addressBytes() - 1);
        }
        Memory.map(channel, settings.addressBytes());
    }

    /** Makes it empty, except for room for its header and its slots. */
    public void remake() throws IOException {
        Memory.unmap();
        channel.truncate(0);
        map();
        back(0, CONTROL_BYTES);
    }

    /** Whether other processes used the store when the pool was opened. */
    public boolean isShared() {
        return isShared;
    }

    /** Whether the pool is as the store's processes left it, and no sync has failed. While others use it, it is. */
    public boolean isTrusted() throws IOException {
        return isOfThisBoot() && (Memory.getLong(POOL_WRITE_FAILED) != SYNC_FAILED || isShared);
    }

    /**
     * Whether the pool is this store's, with the lock file and the log that the store has, and of this boot of the
     * machine.
     */
    public boolean isOfThisBoot() throws IOException {
        long[] boot = Attachments.boot();
        UUID log = new UUID(Memory.getLong(LOG_IDENTITY_HIGH), Memory.getLong(LOG_IDENTITY_LOW));
        var lock = new NativeFile.Identity(Memory.getLong(POOL_LOCK_DEVICE), Memory.getLong(POOL_LOCK_INODE));
        return Memory.getLong(POOL_MAGIC) == MAGIC && Memory.getLong(POOL_VERSION) == VERSION
                && Memory.getLong(POOL_STORE_HIGH) == settings.store().getMostSignificantBits()
                && Memory.getLong(POOL_STORE_LOW) == settings.store().getLeastSignificantBits()
                && Memory.getLong(POOL_BOOT_HIGH) == boot[0] && Memory.getLong(POOL_BOOT_LOW) == boot[1]
                && lock.equals(attachments.identity()) && Memory.getLong(POOL_VALID) == 1
                && log.equals(StoreSettings.read(directory).log());
    }

    /** Says that it has what the store's files have. */
    public void trust() throws IOException {
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

    /**
     * Writes zeros into the pool's file, so that stores there need no space that the disk does not have. Nothing may be
     * there yet.
     */
    public void back(long offset, long length) {
        try {
            writeZeros(offset, length);
        } catch (IOException e) {
            loseLeadership();
            throw new StorageWriteFailure("the pool " + path + " cannot grow: " + e.getMessage(), e);
        }
    }

    /** Returns false if there is no space. */
    public boolean tryBack(long offset, long length) {
        try {
            writeZeros(offset, length);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private void writeZeros(long offset, long length) throws IOException {
        for (long done = 0; done < length;) {
            int step = (int) Math.min(ZEROS.length, length - done);
            done += channel.write(ByteBuffer.wrap(ZEROS, 0, step), offset + done);
        }
    }

    /**
     * Others may lead the store's group from now on: nothing that it has appended is acknowledged any more. A leader
     * whose disk is full would go on to lead otherwise, and refuse transactions.
     */
    public void loseLeadership() {
        if (Memory.getVolatile(REPLICA_ROLE) == LEADER) {
            Memory.compareAndSet(POOL_WRITE_FAILED, 0, LEADERSHIP_LOST);
            waitQueues.wakeAll(WaitQueues.SYNC);
        }
    }

    public NativeFile channel() {
        return channel;
    }

    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
