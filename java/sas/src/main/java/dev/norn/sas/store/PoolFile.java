package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import dev.norn.sas.StorageReadFailure;
import dev.norn.sas.StorageWriteFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/**
 * The file {@code pool}: the memory that all processes of a store share, with the store in the form in which it is
 * used.
 */
final class PoolFile {
    private static final byte[] ZEROS = new byte[1 << 16];

    private final Pool pool;
    private final Path path;
    private NativeFile channel;

    PoolFile(Pool pool, Path path) {
        this.pool = pool;
        this.path = path;
    }

    /**
     * Opens it: the one that others use, if there are any.
     *
     * @throws StorageReadFailure if the file is not there any more, or another one: what two pools have would both be
     *     acknowledged, and one of them lost
     */
    void open(boolean isShared) throws IOException {
        if (isShared && Files.notExists(path)) {
            throw new StorageReadFailure("the pool " + path + " was removed while " + pool.attachments().describeOther()
                    + " uses it: end that process first, nothing is lost then");
        }
        channel = NativeFile.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        if (isShared && !pool.attachments().use(channel.identity())) {
            throw new StorageReadFailure("the pool " + path + " is not the one that " + pool.attachments().describeOther()
                    + " uses, which was removed or replaced: end that process first, nothing is lost then");
        }
        if (!isShared && channel.lockedAt(0, 1) >= 0) {
            throw new StorageReadFailure("the pool " + path + " is used by a process that is not attached to " + pool.directory
                    + ": another store has the same pool, or the file lock was removed; end that process first");
        }
        // For processes that have another lock file.
        channel.tryLockShared(0);
        pool.attachments().note(channel.identity());
    }

    /** Maps it, as long as the store's address space. */
    void map() throws IOException {
        if (channel.size() < pool.settings.addressBytes()) {
            channel.write(ByteBuffer.allocate(1), pool.settings.addressBytes() - 1);
        }
        Memory.map(channel, pool.settings.addressBytes());
    }

    /** Makes it empty, except for room for its header and its slots. */
    void remake() throws IOException {
        Memory.unmap();
        channel.truncate(0);
        map();
        back(0, 1 << 20);
    }

    /** Whether the pool is as the store's processes left it, and no sync has failed. While others use it, it is. */
    boolean isTrusted(boolean isShared) throws IOException {
        return isOfThisBoot() && (Memory.getLong(POOL_WRITE_FAILED) != SYNC_FAILED || isShared);
    }

    /**
     * Whether the pool is this store's, with the lock file and the log that the store has, and of this boot of the
     * machine.
     */
    boolean isOfThisBoot() throws IOException {
        long[] boot = Attachments.boot();
        UUID log = new UUID(Memory.getLong(LOG_IDENTITY_HIGH), Memory.getLong(LOG_IDENTITY_LOW));
        var lock = new NativeFile.Identity(Memory.getLong(POOL_LOCK_DEVICE), Memory.getLong(POOL_LOCK_INODE));
        return Memory.getLong(POOL_MAGIC) == MAGIC && Memory.getLong(POOL_VERSION) == VERSION
                && Memory.getLong(POOL_STORE_HIGH) == pool.settings.store().getMostSignificantBits()
                && Memory.getLong(POOL_STORE_LOW) == pool.settings.store().getLeastSignificantBits()
                && Memory.getLong(POOL_BOOT_HIGH) == boot[0] && Memory.getLong(POOL_BOOT_LOW) == boot[1]
                && lock.equals(pool.attachments().identity()) && Memory.getLong(POOL_VALID) == 1
                && log.equals(StoreSettings.read(pool.directory).log());
    }

    /** Says that it has what the store's files have. */
    void trust() throws IOException {
        long[] boot = Attachments.boot();
        Memory.putLong(NEXT_INCARNATION, System.currentTimeMillis() / 1000 & 0x3FFF_FFFF);
        Memory.putLong(POOL_BOOT_HIGH, boot[0]);
        Memory.putLong(POOL_BOOT_LOW, boot[1]);
        Memory.putLong(POOL_STORE_HIGH, pool.settings.store().getMostSignificantBits());
        Memory.putLong(POOL_STORE_LOW, pool.settings.store().getLeastSignificantBits());
        Memory.putLong(POOL_LOCK_DEVICE, pool.attachments().identity().device());
        Memory.putLong(POOL_LOCK_INODE, pool.attachments().identity().inode());
        Memory.putLong(POOL_VERSION, VERSION);
        Memory.putLong(POOL_MAGIC, MAGIC);
        Memory.putVolatile(POOL_VALID, 1);
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
            throw new StorageWriteFailure("the pool " + path + " cannot grow: " + e.getMessage(), e);
        }
    }

    NativeFile channel() {
        return channel;
    }

    void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
