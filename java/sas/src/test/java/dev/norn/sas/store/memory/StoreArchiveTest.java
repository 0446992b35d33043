package dev.norn.sas.store.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.exception.StorageReadFailure;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What goes into an archive comes out of it, holes as holes; what is no archive gives an error. */
class StoreArchiveTest {
    private static final long SEED = 7;

    @TempDir
    Path directory;

    private Path make(String name) throws IOException {
        return Files.createDirectory(directory.resolve(name));
    }

    private Path filled() throws IOException {
        Path from = make("from");
        byte[] bytes = new byte[200_000];
        new Random(SEED).nextBytes(bytes);
        Files.write(from.resolve("store.properties"), bytes);
        Files.write(from.resolve("redo.unapplied"), new byte[0]);
        try (var file = new RandomAccessFile(from.resolve("main.container").toFile(), "rw")) {
            file.write(bytes);
            file.seek(1L << 31);
            file.write(bytes);
            file.setLength((1L << 31) + (1 << 20));
        }
        return from;
    }

    @Test
    void filesComeOutAsTheyWere() throws IOException {
        Path from = filled();
        Path archive = directory.resolve("archive");
        StoreArchive.write(from, archive);
        assertTrue(Files.size(archive) < 1 << 20, Files.size(archive) + " bytes: holes are in it");
        Path to = make("to");
        Files.writeString(to.resolve("redo.unapplied"), "what was there before");
        StoreArchive.extract(archive, to);
        for (String name : List.of("store.properties", "redo.unapplied")) {
            assertArrayEquals(Files.readAllBytes(from.resolve(name)), Files.readAllBytes(to.resolve(name)), name);
        }
        assertEquals(Files.size(from.resolve("main.container")), Files.size(to.resolve("main.container")));
        try (var its = new RandomAccessFile(from.resolve("main.container").toFile(), "r");
                var copy = new RandomAccessFile(to.resolve("main.container").toFile(), "r")) {
            for (long at : new long[] {0, 150_000, 1 << 30, (1L << 31) - 4096, 1L << 31, (1L << 31) + 199_000}) {
                byte[] expected = new byte[8192];
                byte[] found = new byte[8192];
                its.seek(at);
                its.readFully(expected);
                copy.seek(at);
                copy.readFully(found);
                assertArrayEquals(expected, found, "at " + at);
            }
        }
    }

    @Test
    void whatIsNoArchiveIsRefused() throws IOException {
        Path archive = directory.resolve("archive");
        StoreArchive.write(filled(), archive);
        byte[] whole = Files.readAllBytes(archive);
        Path to = make("to");
        Files.write(archive, Arrays.copyOf(whole, whole.length - 1));
        assertThrows(EOFException.class, () -> StoreArchive.extract(archive, to));
        whole[0]++;
        Files.write(archive, whole);
        assertThrows(StorageReadFailure.class, () -> StoreArchive.extract(archive, to));
        for (String name : List.of("../main.container", "sub/main.container", "notes", "/tmp/main.container")) {
            try (var file = new DataOutputStream(Files.newOutputStream(archive))) {
                file.writeInt(0x53415331);
                file.writeUTF(name);
                file.writeLong(0);
                file.writeLong(-1);
                file.writeUTF("");
            }
            assertThrows(StorageReadFailure.class, () -> StoreArchive.extract(archive, to), name);
        }
    }
}
