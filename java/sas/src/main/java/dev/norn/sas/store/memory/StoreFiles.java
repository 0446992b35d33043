package dev.norn.sas.store.memory;

import dev.norn.sas.exception.StorageReadFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** The files of a store's directory, by their names, and what to say when a file cannot be used. */
public final class StoreFiles {
    private static final String NAMES = "store\\.properties(\\.new)?|pool|lock|redo\\.(log|unapplied)(\\.new)?"
            + "|redo\\.lost-\\d+|replica(\\.new)?|.*\\.container(\\.new)?";

    /** The file of the redo log. */
    public static final String LOG = "redo.log";
    /** The file with what waits for a container's file. */
    public static final String UNAPPLIED = "redo.unapplied";
    /** Says that the store is a member of a group of replicas; no backup has it. */
    public static final String REPLICA = "replica";
    private static final int CHUNK_BYTES = 1 << 16;

    private StoreFiles() {}

    static boolean isStores(Path file) {
        return file.getFileName().toString().matches(NAMES);
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.sorted().toList();
        }
    }

    /** A file of the directory that is a store's; null if there is none. */
    public static Path find(Path directory) throws IOException {
        return list(directory).stream().filter(StoreFiles::isStores).findFirst().orElse(null);
    }

    /** A file of the directory that is no store's; null if there is none. */
    public static Path findOther(Path directory) throws IOException {
        return list(directory).stream().filter(file -> !isStores(file)).findFirst().orElse(null);
    }

    /**
     * Refuses a store whose creation was cut off before it had a log: nothing was ever in it. A caller that only opens
     * a store must not complete it, and does not know how large it was to be.
     *
     * @throws StorageReadFailure that says what to do
     */
    public static void requireComplete(Path directory) throws IOException {
        if (Files.exists(directory.resolve("store.properties")) && StoreSettings.read(directory).log() == null
                && list(directory).stream()
                        .noneMatch(file -> file.endsWith(LOG) || file.toString().endsWith(".container"))) {
            throw new StorageReadFailure("the store " + directory
                    + " is not complete, because its creation was cut off or is still running: "
                    + "if no program is creating it, remove the directory, and create the store again");
        }
    }

    /** Of a directory that is to be made, the first on the way to it that is not there; null if it is there. */
    public static Path firstMissing(Path directory) {
        Path missing = null;
        for (Path at = directory.toAbsolutePath(); at != null && Files.notExists(at); at = at.getParent()) {
            missing = at;
        }
        return missing;
    }

    /**
     * Removes directories that were made for nothing: this one and those above it, up to {@code first}, unless
     * something is in them.
     */
    public static void removeEmpty(Path directory, Path first) throws IOException {
        for (Path at = directory.toAbsolutePath();
                first != null && at.startsWith(first) && Files.isDirectory(at) && list(at).isEmpty();
                at = at.getParent()) {
            Files.delete(at);
        }
    }

    /** Removes a store's files. */
    public static void remove(Path directory) throws IOException {
        for (Path file : list(directory)) {
            if (isStores(file)) {
                Files.delete(file);
            }
        }
    }

    /** Syncs a file or directory. */
    public static void sync(Path path) throws IOException {
        try (var channel = NativeFile.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /**
     * Copies a file, and syncs the copy. Holes stay holes, so that the descriptors of pages that are not there cost
     * nothing in the copy either.
     */
    public static void copy(Path from, Path to) throws IOException {
        try (var its = NativeFile.open(from, StandardOpenOption.READ);
                var file = NativeFile.open(to, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            long size = its.size();
            ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTES);
            for (long at = its.nextData(0); at < size; at = its.nextData(at)) {
                int length = read(its, chunk.clear(), at);
                if (length == 0) {
                    throw new FileSystemException(from.toString(), null, "it was cut off while it was copied");
                }
                write(file, chunk.flip(), at);
                at += length;
            }
            if (file.size() < size) {
                write(file, ByteBuffer.allocate(1), size - 1);
            }
            file.force(true);
        }
    }

    /** Writes all that remains of the buffer. */
    public static void write(FileChannel file, ByteBuffer bytes, long at) throws IOException {
        while (bytes.hasRemaining()) {
            at += file.write(bytes, at);
        }
    }

    /** Reads until the buffer is full or the file ends; returns how many bytes there were. */
    public static int read(FileChannel file, ByteBuffer to, long at) throws IOException {
        try {
            NativeFile.readFully(file, to, at);
            return to.position();
        } catch (IOException e) {
            throw new FileSystemException("the bytes at " + at, null, e.getMessage());
        }
    }

    /** What an exception of the file system means, in words: its message alone may be no more than a name. */
    public static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException file -> file.getFile() + " is not there";
            case FileAlreadyExistsException file -> file.getFile() + " exists already";
            case AccessDeniedException file -> "no permission for " + file.getFile();
            case NotDirectoryException file -> file.getFile() + " is no directory";
            case FileSystemException file -> file.getReason() == null ? file.getFile() + " cannot be used"
                    : file.getMessage();
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }
}
