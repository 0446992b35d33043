package dev.norn.bobc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;

/**
 * A directory for a run's data, removed with all that is in it when the run ends, also by a signal that can be caught.
 */
final class Scratch implements AutoCloseable {
    private static final int ATTEMPTS = 20;

    final Path path;
    private final Thread remover = new Thread(this::removeAtTheEnd);
    private volatile Runnable first = () -> {};

    /** @throws IllegalArgumentException if no scratch directory can be made there */
    static void requireParent(Path parent) {
        String reason = !Files.exists(parent) ? "not there" : !Files.isDirectory(parent) ? "no directory"
                : !Files.isWritable(parent) ? "not writable" : null;
        if (reason != null) {
            throw new IllegalArgumentException("--directory " + parent + " is " + reason);
        }
    }

    /** @param parent where it is made */
    Scratch(Path parent) throws IOException {
        path = Files.createTempDirectory(parent, "bobc");
        try {
            Runtime.getRuntime().addShutdownHook(remover);
        } catch (IllegalStateException e) {
            // This JVM ends already, and nothing else would remove it.
            Files.delete(path);
            throw e;
        }
    }

    /** Has something done before the directory is removed by a signal: what uses it is to end. */
    void endFirst(Runnable action) {
        first = action;
    }

    private void remove() throws IOException {
        try (var files = Files.walk(path)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    /** The run continues meanwhile, and makes files. */
    private void removeAtTheEnd() {
        first.run();
        for (int attempt = 0; Files.exists(path) && attempt < ATTEMPTS; attempt++) {
            try {
                remove();
            } catch (IOException | java.io.UncheckedIOException e) {
                if (attempt == ATTEMPTS - 1) {
                    System.err.println("bobc: " + path + " is left: " + e);
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        remove();
        try {
            Runtime.getRuntime().removeShutdownHook(remover);
        } catch (IllegalStateException e) {
            // This JVM ends already.
        }
    }
}
