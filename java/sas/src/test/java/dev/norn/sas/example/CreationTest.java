package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.Store;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store is made whole or not at all. A log that the disk has no room for is refused before anything is written, and a
 * process that only opens a store whose creation was killed does not complete it.
 */
class CreationTest {
    @TempDir
    Path directory;

    private static TreeSet<String> names(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return new TreeSet<>(files.map(file -> file.getFileName().toString()).toList());
        }
    }

    @Test
    void aLogThatDoesNotFitIsRefusedAtOnce() throws Exception {
        Path at = directory.resolve("store");
        var thrown =
                assertThrows(StorageWriteFailure.class, () -> Store.create(at, Stores.SMALL.withLogBytes(1L << 50)));
        assertTrue(thrown.getMessage().contains("a log of 1,125,899,906,842,624 bytes does not fit: "
                + "the file system has "), thrown.getMessage());
        String said = thrown.getMessage()
                .replaceAll(".*the file system has ([0-9,]+) bytes free.*", "$1").replace(",", "");
        long free = Long.parseLong(said);
        assertTrue(free > 0 && free <= Files.getFileStore(directory).getTotalSpace(), thrown.getMessage());
        assertFalse(Files.exists(at), "nothing stays");
        assertTrue(CommandTest.sas(1, "create", at, "--log-bytes", "1000T").contains("does not fit"));
    }

    /** What is on disk when the creation is killed while it writes the log. */
    private Path killed() throws IOException {
        Path at = directory.resolve("killed");
        Store.create(at, Stores.SMALL).close();
        Path cut = Files.createDirectory(directory.resolve("cut"));
        List<String> properties = Files.readAllLines(at.resolve("store.properties")).stream()
                .filter(line -> !line.startsWith("log=")).toList();
        Files.write(cut.resolve("store.properties"), properties);
        Files.write(cut.resolve("redo.log.new"), new byte[100]);
        Files.write(cut.resolve("lock"), new byte[0]);
        return cut;
    }

    @Test
    void aStoreWhoseCreationWasKilledIsNotCompletedByWhoeverOpensIt() throws Exception {
        Path cut = killed();
        TreeSet<String> before = names(cut);
        var thrown = assertThrows(StorageReadFailure.class, () -> Store.open(cut));
        assertTrue(thrown.getMessage().contains("the store " + cut + " is not complete")
                && thrown.getMessage().contains("remove the directory"), thrown.getMessage());
        assertThrows(StorageReadFailure.class, () -> Store.create(cut, Stores.SMALL));
        assertTrue(CommandTest.sas(1, "ls", cut).contains("its creation was cut off"));
        assertTrue(CommandTest.sas(1, "recover", "--accept-loss", cut).contains("its creation was cut off"));
        assertEquals(before, names(cut));
    }
}
