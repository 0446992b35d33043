package dev.norn.sas.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A copy of a store as of one moment, in a directory of its own among the temporary files ({@code java.io.tmpdir}), for those who may not disturb the store. Removed when it is closed. */
public final class PrivateCopy implements AutoCloseable {
    private final Path parent;
    private final Thread remover = new Thread(this::remove);

    private PrivateCopy() throws IOException {
        parent = Files.createTempDirectory("sas-copy-");
        Runtime.getRuntime().addShutdownHook(remover);
    }

    /** Copies a store that may be in use. Costs as much as a backup. */
    public static PrivateCopy of(Pool pool) throws IOException {
        PrivateCopy copy = new PrivateCopy();
        try {
            pool.backup(copy.directory());
            return copy;
        } catch (IOException | RuntimeException e) {
            copy.close();
            throw e;
        }
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
