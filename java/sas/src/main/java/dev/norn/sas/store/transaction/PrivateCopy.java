package dev.norn.sas.store.transaction;

import dev.norn.sas.store.log.LogFile;
import dev.norn.sas.store.memory.Attachments;
import dev.norn.sas.store.memory.NativeFile;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.memory.StoreSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A copy of a store as of one moment, in a directory of its own among the temporary files ({@code java.io.tmpdir}), for
 * those who may not disturb the store, or cannot write into it. Removed when it is closed, and at the JVM's end.
 */
public final class PrivateCopy implements AutoCloseable {
    private final Path parent;
    private final Thread remover = new Thread(this::remove);

    private PrivateCopy() throws IOException {
        parent = Files.createTempDirectory("sas-copy-");
        Runtime.getRuntime().addShutdownHook(remover);
    }

    /** Copies a store that may be in use. Costs as much as a backup. */
    public static PrivateCopy of(AttachedStore store) throws IOException {
        PrivateCopy copy = new PrivateCopy();
        try {
            store.backup(copy.directory());
            return copy;
        } catch (IOException | RuntimeException e) {
            copy.close();
            throw e;
        }
    }

    /** Whether a store cannot be used in place because it cannot be written. */
    static boolean isNeeded(Path store) throws IOException {
        return Files.exists(store) && NativeFile.mount(store).isReadOnly();
    }

    /**
     * A store on a read-only file system. Its containers are links to the files there, unless the log has what they
     * lack: then they are copied, and the log is replayed into the copies. Costs copying the log, and the containers if
     * need be.
     *
     * @throws dev.norn.sas.exception.StorageReadFailure if programs use the store, which have it by another mount
     */
    static PrivateCopy ofReadOnly(Path store) throws IOException {
        StoreSettings settings = StoreSettings.read(store);
        Attachments.requireNone(store);
        PrivateCopy copy = new PrivateCopy();
        try {
            copy.fill(store, settings);
            return copy;
        } catch (IOException | RuntimeException e) {
            copy.close();
            throw e;
        }
    }

    private void fill(Path store, StoreSettings settings) throws IOException {
        Files.createDirectory(directory());
        boolean isUpToDate = true;
        for (String name : List.of(LogFile.NAME, StoreFiles.UNAPPLIED)) {
            if (Files.exists(store.resolve(name))) {
                StoreFiles.copy(store.resolve(name), directory().resolve(name));
                isUpToDate &= name.equals(LogFile.NAME) && LogFile.isEmpty(directory().resolve(name));
            }
        }
        try (var files = Files.newDirectoryStream(store, "*.container")) {
            for (Path file : files) {
                Path its = directory().resolve(file.getFileName());
                if (isUpToDate || !Files.isRegularFile(file)) {
                    Files.createSymbolicLink(its, file);
                } else {
                    StoreFiles.copy(file, its);
                }
            }
        }
        settings.withPool(null).write(directory());
    }

    public Path directory() {
        return parent.resolve("store");
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(remover);
        remove();
    }

    private void remove() {
        try {
            if (Files.exists(directory())) {
                StoreFiles.remove(directory());
                Files.delete(directory());
            }
            Files.deleteIfExists(parent);
        } catch (IOException e) {
            System.err.println("sas: the copy " + parent + " cannot be removed: " + StoreFiles.reason(e));
        }
    }
}
