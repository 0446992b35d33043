package dev.norn.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.function.Predicate;

/** Directories with all that is in them. */
final class Trees {
    private Trees() {}

    /** Copies the files of a directory that has no others. */
    static void copy(Path from, Path to, Predicate<Path> choice) throws IOException {
        Files.createDirectories(to);
        try (var files = Files.list(from)) {
            for (Path file : files.filter(choice).toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    static void delete(Path tree) throws IOException {
        if (Files.exists(tree)) {
            try (var files = Files.walk(tree)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    /** Of the files in a directory, which may grow meanwhile. */
    static long bytes(Path directory) throws IOException {
        long bytes = 0;
        try (var files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                bytes += Files.size(file);
            }
        }
        return bytes;
    }
}
