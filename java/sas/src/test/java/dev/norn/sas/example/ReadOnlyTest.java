package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ObjectAccessDenied;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.store.inspect.Inspection;
import dev.norn.sas.store.log.LogBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store on a file system that is mounted read-only is read, listed, checked and backed up; nothing is written there,
 * and nothing stays of what was written elsewhere.
 */
class ReadOnlyTest {
    @TempDir
    Path directory;
    private Path mount;

    /** Only root can mount. */
    @BeforeEach
    void mount() throws Exception {
        mount = Files.createDirectory(directory.resolve("mount"));
        if (run("mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", mount.toString()) != 0) {
            System.err.println("SKIPPED: a store on a read-only mount, because this process may not mount a tmpfs");
            Assumptions.abort("mount needs root");
        }
    }

    @AfterEach
    void unmount() throws Exception {
        run("umount", "-l", mount.toString());
    }

    private static int run(String... command) throws Exception {
        return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
    }

    private void protect() throws Exception {
        assertEquals(0, run("mount", "-o", "remount,ro", mount.toString()));
    }

    private static Account make(Store store) {
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 7, "Ann");
        store.setRoot("ann", ann);
        return ann;
    }

    private static List<String> files(Path directory) throws IOException {
        List<String> files = new ArrayList<>();
        try (var all = Files.list(directory)) {
            for (Path file : all.sorted().toList()) {
                files.add(file.getFileName() + " " + Files.size(file) + " " + Files.getLastModifiedTime(file));
            }
        }
        return files;
    }

    private static TreeSet<String> copies() throws IOException {
        TreeSet<String> names = new TreeSet<>();
        try (var all = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            all.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith("sas-copy-")).forEach(names::add);
        }
        return names;
    }

    private void verify(Path at, int balance) throws Exception {
        List<String> before = files(at);
        TreeSet<String> copies = copies();
        Path backup = directory.resolve("backup of " + at.getFileName());
        try (Store store = Store.open(at)) {
            assertEquals(at.toString(), store.toString());
            Account ann = store.root("ann", Account.class);
            assertEquals(balance, ann.balance());
            assertEquals("Ann", Transaction.call(ann::owner));
            assertTrue(Inspection.list(store.attached()).stream().anyMatch(line -> line.contains("container main")),
                    Inspection.list(store.attached()).toString());
            assertEquals(List.of(), Inspection.check(store.attached(), line -> {}));
            store.attached().backup(backup);
            for (Runnable change : new Runnable[] {() -> ann.add(1), () -> store.setRoot("bob", ann),
                    () -> store.createContainer("other", 1 << 20),
                    () -> Factory.newInstanceIn(Account.class, store.container("main"), 7, "Bob")}) {
                var thrown = assertThrows(ObjectAccessDenied.class, change::run);
                assertTrue(thrown.getMessage().contains("the store " + at + " is on a read-only file system"),
                        thrown.getMessage());
            }
            assertEquals(balance, ann.balance());
        }
        assertEquals(before, files(at));
        assertTrue(copies.containsAll(copies()), "no copy is left: " + copies());
        try (Store store = Store.open(backup)) {
            store.root("ann", Account.class).add(1);
            assertEquals(balance + 1, store.root("ann", Account.class).balance());
            Stores.check(store);
        }
    }

    @Test
    void itIsReadAsItWasClosed() throws Exception {
        Path at = mount.resolve("store");
        try (Store store = Store.create(at, Stores.SMALL)) {
            make(store).add(10);
        }
        protect();
        verify(at, 10);
    }

    @Test
    void whatOnlyTheLogHasIsThere() throws Exception {
        Path at = mount.resolve("store");
        Path other = directory.resolve("other");
        try (Store store = Store.create(other, Stores.SMALL)) {
            Account ann = make(store);
            store.attached().checkpoint();
            ann.add(10);
            Stores.withoutPool(other, at);
        }
        Path damaged = Stores.withoutPool(at, mount.resolve("damaged"));
        byte[] log = Files.readAllBytes(damaged.resolve("redo.log"));
        log[LogBytes.of(damaged).place(50)] ^= 1;
        Files.write(damaged.resolve("redo.log"), log);
        protect();
        verify(at, 10);
        var thrown = assertThrows(StorageReadFailure.class, () -> Store.open(damaged));
        assertTrue(thrown.getMessage().contains(damaged + " is damaged: no valid record")
                && thrown.getMessage().contains("copy it to a writable one"), thrown.getMessage());
    }

    @Test
    void aStoreThatIsInUseByAnotherMountIsRefused() throws Exception {
        Path at = mount.resolve("store");
        Path bound = Files.createDirectory(directory.resolve("bound"));
        try (Store store = Store.create(at, Stores.SMALL)) {
            make(store);
            assertEquals(0, run("mount", "--bind", mount.toString(), bound.toString()));
            try {
                assertEquals(0, run("mount", "-o", "remount,bind,ro", bound.toString()));
                String said = CommandTest.sas(1, "ls", bound.resolve("store"));
                assertTrue(said.contains("process " + ProcessHandle.current().pid() + " uses it by another mount"),
                        said);
                store.close();
                assertTrue(CommandTest.sas(0, "ls", bound.resolve("store")).contains("root      ann"));
                assertTrue(CommandTest.sas(0, "check", bound.resolve("store")).contains(" 0 findings"));
                assertFalse(Files.isWritable(bound.resolve("store")));
            } finally {
                run("umount", bound.toString());
            }
        }
    }

    /** The mount alone is read-only; the file system, on which it is too, is not. */
    @Test
    void itIsReadByAReadOnlyBindMountOfItsOwnFileSystem() throws Exception {
        Path at = mount.resolve("writable/store");
        try (Store store = Store.create(at, Stores.SMALL)) {
            make(store).add(10);
        }
        Path bound = Files.createDirectory(mount.resolve("bound"));
        assertEquals(0, run("mount", "--bind", at.getParent().toString(), bound.toString()));
        try {
            assertEquals(0, run("mount", "-o", "remount,bind,ro", bound.toString()));
            verify(bound.resolve("store"), 10);
        } finally {
            run("umount", bound.toString());
        }
        try (Store store = Store.open(at)) {
            store.root("ann", Account.class).add(1);
        }
    }
}
