package dev.norn.sas.store.memory;

import dev.norn.sas.exception.StorageReadFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Who is attached to a store, and who is alone at it: locks on bytes of the file {@code lock}, which the system keeps
 * for an open file (open file description locks), so that they end with the process however it ends, are seen in every
 * PID namespace, and do not end when another part of the process closes the same file.
 *
 * <pre>
 * byte 0           locked by the one who attaches, detaches or recovers
 * byte 2^32 + n    locked by attachment n, as long as it lasts. n is what owner words in shared memory hold; no n is
 *                  given out twice while a pool lasts
 * </pre>
 *
 * <p>What the file contains is text, 128 bytes a line, for messages only: the pool that is in use, who was alone last,
 * and who the attachments are.
 */
public final class Attachments implements AutoCloseable {
    /** Something that is done alone. */
    public interface Step {
        void run() throws IOException;
    }

    private static final long ALONE = 0;
    private static final long FIRST = 1L << 32;
    private static final int LINE_BYTES = 128;
    private static final int LINE_POOL = 0;
    private static final int LINE_ALONE = 1;
    private static final int LINE_FIRST = 2;
    /** Lines for attachments: one that is further on by a multiple of this takes the same line. */
    private static final int LINES = 256;
    private static final long POLL_NANOS = 1_000_000;
    /** After this time, a process that waits for exclusive access prints for which process it waits. */
    private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final String THIS_PROCESS = "process " + ProcessHandle.current().pid() + " of host "
            + read("/proc/sys/kernel/hostname") + ", " + namespace();
    private static final ReentrantLock THREADS = new ReentrantLock();
    /** Frames of {@link StackRoom} in which exclusive access is taken and given back, whatever the step does. */
    private static final int FRAMES = 16;

    private final Path directory;
    private final NativeFile file;
    private volatile long own;

    public Attachments(Path directory) throws IOException {
        this(directory, NativeFile.open(directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE));
    }

    /** This process, in words that another host understands. */
    public static String thisProcess() {
        return THIS_PROCESS;
    }

    private Attachments(Path directory, NativeFile file) {
        this.directory = directory;
        this.file = file;
    }

    /**
     * Comes before a store is used that is on a read-only file system, where it cannot be locked.
     *
     * @throws StorageReadFailure if programs use it, by another mount
     */
    public static void requireNone(Path directory) throws IOException {
        if (Files.notExists(directory.resolve("lock"))) {
            return;
        }
        try (Attachments all = new Attachments(directory,
                NativeFile.open(directory.resolve("lock"), StandardOpenOption.READ))) {
            if (all.others() > 0) {
                throw new StorageReadFailure("the store " + directory
                        + " is on a file system that is mounted read-only here, and " + all.describeOther()
                        + " uses it by another mount: make a backup there, and use that here");
            }
        }
    }

    private static String read(String path) {
        try {
            return Files.readString(Path.of(path)).trim();
        } catch (IOException e) {
            return "?";
        }
    }

    /** As {@code pid:[4026531836]}. */
    private static String namespace() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
        } catch (IOException e) {
            return "?";
        }
    }

    /** The boot of the machine, as two words. */
    static long[] boot() {
        try {
            var id = java.util.UUID.fromString(Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim());
            return new long[] {id.getMostSignificantBits(), id.getLeastSignificantBits()};
        } catch (IOException e) {
            throw new StorageReadFailure(
                    "cannot read the boot's identity, which says whether a pool may be trusted", e);
        }
    }

    /** Makes this process the attachment with this number, until {@link #close}. */
    void join(long attachment) throws IOException {
        if (!file.tryLock(FIRST + attachment)) {
            throw new StorageReadFailure("the store " + directory + " has an attachment " + attachment
                    + " already: " + describe(attachment));
        }
        own = attachment;
        write(LINE_FIRST + (int) (attachment % LINES), "attachment " + attachment + " " + THIS_PROCESS);
    }

    /** Whether the attachment lasts. Costs a system call. */
    public boolean isAlive(long attachment) {
        try {
            return attachment == own || file.lockedAt(FIRST + attachment, 1) >= 0;
        } catch (IOException e) {
            throw new StorageReadFailure("cannot see who uses the store " + directory + ": " + e.getMessage(), e);
        }
    }

    /** How many other attachments there are. */
    public int others() {
        try {
            return count(FIRST, Long.MAX_VALUE - FIRST);
        } catch (IOException e) {
            throw new StorageReadFailure("cannot see who uses the store " + directory + ": " + e.getMessage(), e);
        }
    }

    private int count(long from, long length) throws IOException {
        long found = length == 0 ? -1 : file.lockedAt(from, length);
        return found < 0 ? 0 : 1 + count(from, found - from) + count(found + 1, from + length - found - 1);
    }

    /** One of the other attachments, in words. */
    public String describeOther() throws IOException {
        long found = file.lockedAt(FIRST, Long.MAX_VALUE - FIRST);
        return found < 0 ? "a process that has ended since" : describe(found - FIRST);
    }

    /** The process of an attachment, in words. */
    public String describe(long attachment) {
        if (attachment == own) {
            return "process " + ProcessHandle.current().pid() + ", which is this one";
        }
        String line = line(LINE_FIRST + (int) (attachment % LINES));
        String start = "attachment " + attachment + " ";
        return line.startsWith(start) ? shorten(line.substring(start.length())) : "attachment " + attachment;
    }

    /** Says nothing of host and namespace where they are the reader's own. */
    private static String shorten(String process) {
        String here = THIS_PROCESS.substring(THIS_PROCESS.indexOf(" of host"));
        return process.endsWith(here) ? process.substring(0, process.length() - here.length()) : process;
    }

    /** Whether the attachments use this file as their pool. */
    boolean use(NativeFile.Identity pool) {
        return line(LINE_POOL).equals(pool.toString());
    }

    /** Notes that the attachments use this file as their pool. */
    void note(NativeFile.Identity pool) throws IOException {
        write(LINE_POOL, pool.toString());
    }

    /** Which file the lock file is. */
    NativeFile.Identity identity() throws IOException {
        return file.identity();
    }

    private String line(int number) {
        ByteBuffer bytes = ByteBuffer.allocate(LINE_BYTES);
        try {
            file.read(bytes, (long) number * LINE_BYTES);
        } catch (IOException e) {
            return "";
        }
        return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8).replace('\0', ' ').trim();
    }

    private void write(int number, String text) throws IOException {
        byte[] bytes = new byte[LINE_BYTES];
        java.util.Arrays.fill(bytes, (byte) ' ');
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(encoded, 0, bytes, 0, Math.min(encoded.length, LINE_BYTES - 1));
        bytes[LINE_BYTES - 1] = '\n';
        file.write(ByteBuffer.wrap(bytes), (long) number * LINE_BYTES);
    }

    /** Whether the calling thread is alone. */
    public boolean isAlone() {
        return THREADS.isHeldByCurrentThread();
    }

    /**
     * Waits for exclusive access to the store, among all processes, and runs the step. One who waits for long says for
     * whom on standard error.
     */
    public void alone(Step step) {
        StackRoom.require(FRAMES);
        THREADS.lock();
        try {
            if (THREADS.getHoldCount() > 1) {
                step.run();
            } else {
                lock();
                run(step);
            }
        } catch (IOException e) {
            throw failure(e);
        } finally {
            THREADS.unlock();
        }
    }

    /** Runs the step if no other process has exclusive access to the store now. */
    public void tryAlone(Step step) {
        StackRoom.require(FRAMES);
        if (!THREADS.tryLock()) {
            return;
        }
        try {
            if (file.isOpen() && file.tryLock(ALONE)) {
                run(step);
            }
        } catch (IOException e) {
            throw failure(e);
        } finally {
            THREADS.unlock();
        }
    }

    private void run(Step step) throws IOException {
        try {
            write(LINE_ALONE, THIS_PROCESS);
            step.run();
        } finally {
            if (file.isOpen()) {
                file.unlock(ALONE);
            }
        }
    }

    private StorageReadFailure failure(IOException cause) {
        return new StorageReadFailure("store " + directory + ": " + StoreFiles.reason(cause), cause);
    }

    private void lock() throws IOException {
        long start = System.nanoTime();
        boolean isSilent = true;
        while (!file.tryLock(ALONE)) {
            LockSupport.parkNanos(POLL_NANOS);
            if (isSilent && System.nanoTime() - start > SILENCE_NANOS) {
                isSilent = false;
                System.err.println("sas: waiting for " + shorten(line(LINE_ALONE))
                        + ", which attaches to, leaves or recovers the store " + directory + "; is it stopped?");
            }
        }
    }

    /** Ends this process's attachment. */
    @Override
    public void close() throws IOException {
        file.close();
    }
}
