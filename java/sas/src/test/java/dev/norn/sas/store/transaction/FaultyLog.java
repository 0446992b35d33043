package dev.norn.sas.store.transaction;

import dev.norn.sas.Store;
import dev.norn.sas.store.log.LogBytes;
import dev.norn.sas.store.log.LogFile;
import dev.norn.sas.store.log.RedoLog;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.TransactionSlot;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** A redo log on a device that fails as the test says: the log's channel, with another in between. */
public final class FaultyLog extends FileChannel {
    public enum Fault {
        NONE, SYNC_FAILS, WRITE_FAILS_HALFWAY,
        /** Waits until the fault is another one. */
        SYNC_WAITS,
        /** Takes as long as on a disk. */
        SYNC_TAKES_LONG,
        /** What is read is not what was written. */
        READS_ZEROS,
        /** What has waited fails. */
        WAITING_SYNC_FAILS,
        /** A replay can be begun, but not ended. */
        SECOND_HEADER_FAILS,
        /**
         * The process dies, as with kill -9, with half of what it writes written, with all of it, before the sync, and
         * after the sync.
         */
        DIES_HALFWAY, DIES_BEHIND_WRITE, DIES_BEFORE_SYNC, DIES_BEHIND_SYNC,
        /** The process dies in a sync, while another of its threads has appended a record and waits for a sync. */
        DIES_BESIDE_A_COMMIT,
        /** The process stops itself (SIGSTOP) before its first write, and continues when it gets SIGCONT. */
        STOPS_BEFORE_WRITE
    }

    private final FileChannel channel;
    private volatile Fault fault = Fault.NONE;
    private int syncs;
    private int headers;
    /** What was done: the place of each write, and -1 for each sync that did not fail. */
    private final List<Long> trace = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch isSyncing = new CountDownLatch(1);

    private final Durable durable;

    public FaultyLog(FileChannel channel) {
        this.channel = channel;
        durable = new Durable(channel);
    }

    /** Puts itself in the place of the store's log file, in this JVM. */
    public static FaultyLog install(Store store) throws ReflectiveOperationException {
        Field its = RedoLog.class.getDeclaredField("file");
        its.setAccessible(true);
        Object file = its.get(store.attached().log());
        Field field = LogFile.class.getDeclaredField("channel");
        field.setAccessible(true);
        FaultyLog faulty = new FaultyLog((FileChannel) field.get(file));
        field.set(file, faulty);
        return faulty;
    }

    /** Does something while a checkpoint, or a backup, runs. */
    public static void duringCheckpoint(Store store, Runnable action) throws IOException {
        TransactionSlot slot = store.attached().slots().claim();
        try {
            store.attached().log().checkpointAnd(slot, action::run);
        } finally {
            store.attached().slots().release(slot);
        }
    }

    /** Returns when the log is being synced by a thread of this JVM that waits there for another commit. */
    public void awaitSync() throws InterruptedException {
        isSyncing.await();
    }

    public void fault(Fault next) {
        headers = 0;
        fault = next;
    }

    /** What was done: the place of each write, and -1 for each sync that did not fail. */
    public List<Long> trace() {
        return List.copyOf(trace);
    }

    /** The log as a power cut leaves it now: what was synced, and a share of the other blocks. */
    public byte[] afterPowerCut(Random random, double share) throws IOException {
        return durable.afterPowerCut(random, share);
    }

    /** Attempts to sync, failed ones too. */
    public int syncs() {
        return syncs;
    }

    @Override
    public void force(boolean metaData) throws IOException {
        syncs++;
        if (fault == Fault.SYNC_FAILS) {
            throw new IOException("Input/output error");
        }
        if (fault == Fault.SYNC_TAKES_LONG) {
            LockSupport.parkNanos(5_000_000);
        }
        while (fault == Fault.SYNC_WAITS) {
            LockSupport.parkNanos(100_000);
        }
        if (fault == Fault.WAITING_SYNC_FAILS) {
            throw new IOException("Input/output error");
        }
        if (fault == Fault.DIES_BEFORE_SYNC) {
            die();
        }
        if (fault == Fault.DIES_BESIDE_A_COMMIT) {
            long end = Memory.getVolatile(Format.LOG_TAIL);
            isSyncing.countDown();
            while (Memory.getVolatile(Format.LOG_TAIL) == end) {
                Thread.onSpinWait();
            }
            die();
        }
        durable.force(metaData);
        trace.add(-1L);
        if (fault == Fault.DIES_BEHIND_SYNC) {
            die();
        }
    }

    private static void die() {
        Runtime.getRuntime().halt(9);
    }

    private static void stop() throws IOException {
        try {
            new ProcessBuilder("kill", "-STOP", Long.toString(ProcessHandle.current().pid())).start().waitFor();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Override
    public int write(ByteBuffer from, long position) throws IOException {
        if (fault == Fault.WRITE_FAILS_HALFWAY) {
            channel.write(from.slice(from.position(), from.remaining() / 2), position);
            throw new IOException("No space left on device");
        }
        if (fault == Fault.SECOND_HEADER_FAILS && position < LogBytes.HEADER_BYTES && ++headers == 2) {
            throw new IOException("Input/output error");
        }
        if (fault == Fault.DIES_HALFWAY) {
            channel.write(from.slice(from.position(), from.remaining() / 2), position);
            die();
        }
        if (fault == Fault.STOPS_BEFORE_WRITE) {
            fault = Fault.NONE;
            stop();
        }
        trace.add(position);
        int written = durable.write(from, position);
        if (fault == Fault.DIES_BEHIND_WRITE) {
            die();
        }
        return written;
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
        return channel.read(to);
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) throws IOException {
        return channel.read(to, offset, length);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return channel.write(from);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        return channel.write(from, offset, length);
    }

    @Override
    public long position() throws IOException {
        return channel.position();
    }

    @Override
    public FileChannel position(long position) throws IOException {
        return channel.position(position);
    }

    @Override
    public long size() throws IOException {
        return channel.size();
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        return channel.truncate(size);
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel to) throws IOException {
        return channel.transferTo(position, count, to);
    }

    @Override
    public long transferFrom(ReadableByteChannel from, long position, long count) throws IOException {
        return channel.transferFrom(from, position, count);
    }

    @Override
    public int read(ByteBuffer to, long position) throws IOException {
        if (fault == Fault.READS_ZEROS) {
            int length = to.remaining();
            to.put(new byte[length]);
            return length;
        }
        return channel.read(to, position);
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
        return channel.map(mode, position, size);
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) throws IOException {
        return channel.lock(position, size, shared);
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) throws IOException {
        return channel.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException {
        channel.close();
    }
}
