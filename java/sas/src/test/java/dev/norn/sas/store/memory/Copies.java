package dev.norn.sas.store.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Copies of a store's files, which are mostly holes, and stay so: in memory, a container of gigabytes takes what it
 * has.
 */
public final class Copies {
    private Copies() {}

    /** Copies a file over another, or to where none is. A directory in its place is made again. */
    public static void replace(Path from, Path to) throws IOException {
        Files.deleteIfExists(to);
        if (Files.isRegularFile(from)) {
            StoreFiles.copy(from, to);
        } else {
            Files.createDirectory(to);
        }
    }
}
