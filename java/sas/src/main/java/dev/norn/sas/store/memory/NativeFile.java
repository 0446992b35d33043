package dev.norn.sas.store.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * A file by the system's calls. The JDK closes its own file channels when a thread that uses them is interrupted; but
 * the threads that use the store are the program's, and an interrupted one must not take the log away from all others.
 * What a store does at positions is here; all else is refused.
 */
public final class NativeFile extends FileChannel {
    private static final int O_WRONLY = 1;
    private static final int O_RDWR = 2;
    private static final int O_CREAT = 0x40;
    private static final int O_TRUNC = 0x200;
    private static final int O_CLOEXEC = 0x80000;
    private static final int MODE = 0666;
    private static final int SEEK_END = 2;
    private static final int SEEK_DATA = 3;
    private static final int F_OFD_GETLK = 36;
    private static final int F_OFD_SETLK = 37;
    private static final short F_RDLCK = 0;
    private static final short F_WRLCK = 1;
    private static final short F_UNLCK = 2;
    /**
     * A {@code struct flock}: type (16), whence (16), 4 bytes that are left out, start (64), length (64), process (32).
     */
    private static final int FLOCK_BYTES = 32;
    private static final int FLOCK_START = 8;
    private static final int FLOCK_LENGTH = 16;
    private static final int ENOENT = 2;
    private static final int EINTR = 4;
    private static final int ENXIO = 6;
    private static final int EAGAIN = 11;
    private static final int EACCES = 13;
    private static final int EINVAL = 22;
    private static final int ENOLCK = 37;
    /** A {@code struct statvfs}, of a 64-bit system: unit of blocks, all blocks, those that users may take, flags. */
    private static final int STATVFS_UNIT = 8;
    private static final int STATVFS_BLOCKS = 16;
    private static final int STATVFS_AVAILABLE = 32;
    private static final int STATVFS_FLAGS = 72;
    private static final int ST_RDONLY = 1;
    private static final int LOCKED = 1;
    private static final int NO_LOCKS = 2;
    /** Room on the stack for a call, so that it does not overflow with the lock. */
    private static final int FRAMES = 8;
    /** As much goes through a thread's buffer at a time. */
    private static final int BUFFER_BYTES = 1 << 16;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final MethodHandle OPEN = LINKER.downcallHandle(find("open"),
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT),
            Linker.Option.firstVariadicArg(2), Linker.Option.captureCallState("errno"));
    private static final MethodHandle CLOSE = handle("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle PREAD =
            handle("pread", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle PWRITE =
            handle("pwrite", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle FDATASYNC = handle("fdatasync", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle FSYNC = handle("fsync", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle FTRUNCATE =
            handle("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle LSEEK =
            handle("lseek", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));
    private static final MethodHandle FCNTL = LINKER.downcallHandle(find("fcntl"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS),
            Linker.Option.firstVariadicArg(2), Linker.Option.captureCallState("errno"));
    private static final MethodHandle STATVFS = handle("statvfs", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    private static final MethodHandle STRERROR =
            LINKER.downcallHandle(find("strerror"), FunctionDescriptor.of(ADDRESS, JAVA_INT));
    private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

    private final Path path;
    private final int descriptor;
    /** The lock that keeps the descriptor from being closed, and given to another file, while a call uses it. */
    private final java.util.concurrent.locks.ReentrantReadWriteLock use =
            new java.util.concurrent.locks.ReentrantReadWriteLock();

    private NativeFile(Path path, int descriptor) {
        this.path = path;
        this.descriptor = descriptor;
    }

    /** Fills the buffer up, as far as the file goes. */
    public static void readFully(FileChannel from, ByteBuffer to, long at) throws IOException {
        for (int read; to.hasRemaining() && (read = from.read(to, at)) > 0;) {
            at += read;
        }
    }

    private static MemorySegment find(String name) {
        return LINKER.defaultLookup().findOrThrow(name);
    }

    private static MethodHandle handle(String name, FunctionDescriptor function) {
        return LINKER.downcallHandle(find(name), function, Linker.Option.captureCallState("errno"));
    }

    /** What a thread needs for calls: what they say of errors, and bytes outside the heap. */
    private static final class Scratch {
        final MemorySegment state = Arena.ofAuto().allocate(STATE);
        final MemorySegment bytes = Arena.ofAuto().allocate(BUFFER_BYTES, Long.BYTES);
        /** The same. */
        final ByteBuffer buffer = bytes.asByteBuffer();
    }

    private interface Call {
        long run(Scratch scratch) throws Throwable;
    }

    /** Calls again when a signal came between; else says what went wrong. */
    private static long call(Path path, Call call) throws IOException {
        Scratch scratch = SCRATCH.get();
        for (;;) {
            long result;
            try {
                result = call.run(scratch);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
            if (result >= 0) {
                return result;
            }
            int error = (int) ERRNO.get(scratch.state, 0L);
            if (error != EINTR) {
                throw exception(path, error);
            }
        }
    }

    private static IOException exception(Path path, int error) {
        String reason;
        try {
            reason = ((MemorySegment) STRERROR.invokeExact(error)).reinterpret(Long.MAX_VALUE).getString(0);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        return switch (error) {
            case ENOENT -> new NoSuchFileException(path.toString());
            case EACCES -> new AccessDeniedException(path.toString());
            default -> new FileSystemException(path.toString(), null, reason);
        };
    }

    /**
     * Opens the file for READ, WRITE or both, with CREATE and TRUNCATE_EXISTING as they are for other channels.
     *
     * @throws NoSuchFileException and other {@link FileSystemException}s that say why not
     */
    public static NativeFile open(Path path, OpenOption... options) throws IOException {
        Set<OpenOption> all = Set.of(options);
        int access = !all.contains(StandardOpenOption.WRITE) ? 0
                : all.contains(StandardOpenOption.READ) ? O_RDWR : O_WRONLY;
        int flags = O_CLOEXEC | access
                | (all.contains(StandardOpenOption.CREATE) ? O_CREAT : 0)
                | (all.contains(StandardOpenOption.TRUNCATE_EXISTING) ? O_TRUNC : 0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path.toString());
            return new NativeFile(path,
                    (int) call(path, scratch -> (int) OPEN.invokeExact(scratch.state, name, flags, MODE)));
        }
    }

    /**
     * What the system says of a mounted file system.
     *
     * @param freeBytes what may still be written; {@link Long#MAX_VALUE} where the file system does not count
     */
    public record Mount(boolean isReadOnly, long freeBytes) {}

    /**
     * The mount that a path leads through. A bind mount may be read-only where its file system is not; the JDK's {@link
     * java.nio.file.FileStore} asks the file system.
     */
    public static Mount mount(Path path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path.toString());
            call(path, scratch -> (int) STATVFS.invokeExact(scratch.state, name, scratch.bytes));
        }
        MemorySegment found = SCRATCH.get().bytes;
        long free = found.get(JAVA_LONG, STATVFS_AVAILABLE) * found.get(JAVA_LONG, STATVFS_UNIT);
        return new Mount((found.get(JAVA_LONG, STATVFS_FLAGS) & ST_RDONLY) != 0,
                found.get(JAVA_LONG, STATVFS_BLOCKS) == 0 ? Long.MAX_VALUE : free);
    }

    /** A call on the descriptor, which stays open meanwhile. */
    private long use(Call call) throws IOException {
        StackRoom.require(FRAMES);
        use.readLock().lock();
        try {
            if (!isOpen()) {
                throw new ClosedChannelException();
            }
            return call(path, call);
        } finally {
            use.readLock().unlock();
        }
    }

    @Override
    public int read(ByteBuffer to, long position) throws IOException {
        int length = Math.min(to.remaining(), BUFFER_BYTES);
        int read = (int) use(scratch -> (long) PREAD.invokeExact(scratch.state, descriptor, scratch.bytes,
                (long) length, position));
        to.put(to.position(), SCRATCH.get().buffer, 0, read).position(to.position() + read);
        return read == 0 && length > 0 ? -1 : read;
    }

    @Override
    public int write(ByteBuffer from, long position) throws IOException {
        int length = Math.min(from.remaining(), BUFFER_BYTES);
        SCRATCH.get().buffer.put(0, from, from.position(), length);
        int written = (int) use(scratch -> (long) PWRITE.invokeExact(scratch.state, descriptor, scratch.bytes,
                (long) length, position));
        from.position(from.position() + written);
        return written;
    }

    /** @throws SyncFailed if it fails */
    @Override
    public void force(boolean metaData) throws IOException {
        try {
            use(scratch -> metaData ? (int) FSYNC.invokeExact(scratch.state, descriptor)
                    : (int) FDATASYNC.invokeExact(scratch.state, descriptor));
        } catch (FileSystemException e) {
            throw new SyncFailed(e);
        }
    }

    /** Where data begin at or after a place: holes are passed over. The file's size if there are none. */
    public long nextData(long from) throws IOException {
        long size = size();
        return use(scratch -> {
            long found = (long) LSEEK.invokeExact(scratch.state, descriptor, from, SEEK_DATA);
            return found < 0 && (int) ERRNO.get(scratch.state, 0L) == ENXIO ? size : found;
        });
    }

    @Override
    public long size() throws IOException {
        return use(scratch -> (long) LSEEK.invokeExact(scratch.state, descriptor, 0L, SEEK_END));
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        if (size < size()) {
            use(scratch -> (int) FTRUNCATE.invokeExact(scratch.state, descriptor, size));
        }
        return this;
    }

    /**
     * Locks a byte for this open file, so that no other one has a lock there; false if another has. The lock ends with
     * {@link #unlock}, when the file is closed, or with the process, and is none of the locks that the JDK makes.
     */
    public boolean tryLock(long at) throws IOException {
        return lock(F_OFD_SETLK, F_WRLCK, at, 1) == 0;
    }

    /** The same, where others may have such a lock, but not that of {@link #tryLock}. */
    boolean tryLockShared(long at) throws IOException {
        return lock(F_OFD_SETLK, F_RDLCK, at, 1) == 0;
    }

    void unlock(long at) throws IOException {
        lock(F_OFD_SETLK, F_UNLCK, at, 1);
    }

    /** The place of any lock of another open file within a range of bytes; -1 if there is none. */
    long lockedAt(long from, long length) throws IOException {
        return lock(F_OFD_GETLK, F_WRLCK, from, length) == 0 && scratchLock().get(JAVA_SHORT, 0) != F_UNLCK
                ? scratchLock().get(JAVA_LONG, FLOCK_START) : -1;
    }

    private static MemorySegment scratchLock() {
        return SCRATCH.get().bytes.asSlice(0, FLOCK_BYTES);
    }

    /** Returns 0 if it could be done; else another file has a lock there. */
    private long lock(int command, short type, long from, long length) throws IOException {
        long result = use(scratch -> {
            MemorySegment lock = scratchLock().fill((byte) 0);
            lock.set(JAVA_SHORT, 0, type);
            lock.set(JAVA_LONG, FLOCK_START, from);
            lock.set(JAVA_LONG, FLOCK_LENGTH, length);
            int done = (int) FCNTL.invokeExact(scratch.state, descriptor, command, lock);
            int error = done < 0 ? (int) ERRNO.get(scratch.state, 0L) : 0;
            return error == EAGAIN || error == EACCES ? LOCKED : error == EINVAL || error == ENOLCK ? NO_LOCKS : done;
        });
        if (result == NO_LOCKS) {
            throw new FileSystemException(path.toString(), null,
                    "the system has no open file description locks for it (fcntl F_OFD_SETLK, Linux 3.15), by which "
                    + "the processes of a store detect each other: put the store on another file system");
        }
        return result;
    }

    /** Which file it is, whatever path leads to it. */
    record Identity(long device, long inode) {}

    /** Which file this is; its path may lead to another one by now. */
    Identity identity() throws IOException {
        Path open = Path.of("/proc/self/fd/" + descriptor);
        return new Identity((long) Files.getAttribute(open, "unix:dev"), (long) Files.getAttribute(open, "unix:ino"));
    }

    /** Calls something with the descriptor, which stays open meanwhile. */
    long withDescriptor(java.util.function.IntToLongFunction call) throws IOException {
        return use(scratch -> call.applyAsLong(descriptor));
    }

    @Override
    protected void implCloseChannel() throws IOException {
        use.writeLock().lock();
        try {
            call(path, scratch -> (int) CLOSE.invokeExact(scratch.state, descriptor));
        } finally {
            use.writeLock().unlock();
        }
    }

    @Override
    public String toString() {
        return path.toString();
    }

    private static UnsupportedOperationException positionsOnly() {
        return new UnsupportedOperationException("a store's files are read and written at positions");
    }

    @Override
    public int read(ByteBuffer to) {
        throw positionsOnly();
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) {
        throw positionsOnly();
    }

    @Override
    public int write(ByteBuffer from) {
        throw positionsOnly();
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
        throw positionsOnly();
    }

    @Override
    public long position() {
        throw positionsOnly();
    }

    @Override
    public FileChannel position(long position) {
        throw positionsOnly();
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel to) {
        throw positionsOnly();
    }

    @Override
    public long transferFrom(ReadableByteChannel from, long position, long count) {
        throw positionsOnly();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
        throw positionsOnly();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
        throw positionsOnly();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) {
        throw positionsOnly();
    }
}
