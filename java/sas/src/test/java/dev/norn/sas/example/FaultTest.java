package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ContainerDamaged;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.transaction.FaultyLog.Fault;
import dev.norn.sas.store.transaction.FaultyLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Devices that fail: a write or a sync of the log, a full disk, files that cannot be read, are cut off or have flipped
 * bits. What was committed before is there, what could not be committed is undone, other containers stay usable, and
 * the exception says where.
 */
class FaultTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);

    @TempDir
    Path directory;
    private Store store;

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
        }
    }

    private Account open(Path at) {
        store = Store.create(at, Stores.SMALL);
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        store.setRoot("ann", ann);
        store.setRoot("bob", Factory.newInstanceIn(Account.class, store.container("main"), 2, "Bob"));
        ann.add(10);
        return ann;
    }

    @Test
    void aFailedWriteUndoesTheTransactionAndTheNextCommits() throws Exception {
        Path at = directory.resolve("store");
        Account ann = open(at);
        FaultyLog log = FaultyLog.install(store);
        log.fault(Fault.WRITE_FAILS_HALFWAY);
        var thrown = assertThrows(StorageWriteFailure.class, () -> Transaction.run(() -> ann.add(5)));
        assertTrue(thrown.getMessage().contains("redo.log") && thrown.getMessage().contains("No space"),
                thrown.getMessage());
        assertEquals(10, ann.balance());
        log.fault(Fault.NONE);
        ann.add(7);
        Path copy = Stores.withoutPool(at, directory.resolve("copy"));
        store.close();
        store = Store.open(copy);
        assertEquals(17, store.root("ann", Account.class).balance(), "the half record is overwritten");
        Stores.check(store);
    }

    @Test
    void afterAFailedSyncTheStoreIsReadOnlyAndNothingIsSyncedAgain() throws Exception {
        Path at = directory.resolve("store");
        Account ann = open(at);
        FaultyLog log = FaultyLog.install(store);
        log.fault(Fault.SYNC_FAILS);
        var thrown = assertThrows(StorageWriteFailure.class, () -> Transaction.run(() -> ann.add(5)));
        assertTrue(thrown.getMessage().contains("redo.log"), thrown.getMessage());
        int syncs = log.syncs();
        log.fault(Fault.NONE);
        for (int i = 0; i < 3; i++) {
            assertThrows(StorageWriteFailure.class, () -> ann.add(1),
                    "the device works again, but what it lost is not known");
        }
        assertEquals(syncs, log.syncs(), "a failed sync is not tried again");
        assertThrows(StorageWriteFailure.class, ann::balance, "what she has now may be lost");
        assertEquals("Bob", store.root("bob", Account.class).owner(), "reading what was durable goes on");
        store.close();
        store = Store.open(at);
        Account again = store.root("ann", Account.class);
        assertEquals(10, again.balance(), "what was not synced was not committed");
        again.add(1);
        assertEquals(11, again.balance());
        Stores.check(store);
    }

    /** Which of the store's files are on the file system that is full. */
    private enum Full { ALL, ALL_BUT_POOL, POOL }

    @ParameterizedTest
    @EnumSource
    void aFullDiskAbortsBeforeTheCommitPointAndTheStoreGoesOnWhenThereIsRoom(Full full) throws Exception {
        // Only root can mount a small file system of its own.
        Path mount = Files.createDirectory(directory.resolve("mount"));
        int mounted = new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", mount.toString())
                .redirectErrorStream(true).start().waitFor();
        if (mounted != 0) {
            System.err.println("SKIPPED: a full disk, because this process may not mount a tmpfs of 12 MB");
            Assumptions.abort("mount needs root");
        }
        try {
            fill(mount, full);
        } finally {
            new ProcessBuilder("umount", "-l", mount.toString()).start().waitFor();
        }
    }

    private void fill(Path mount, Full full) throws IOException {
        Path filler = mount.resolve("filler");
        Files.write(filler, new byte[(full == Full.ALL ? 2 : 8) << 20]);
        Path at = full == Full.POOL ? directory.resolve("store") : mount.resolve("store");
        store = Store.create(at, full == Full.ALL ? Stores.SMALL
                : Stores.SMALL.withPool((full == Full.POOL ? mount : directory).resolve("its-pool").toString()));
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        store.setRoot("ann", ann);
        ann.add(10);
        List<Long> committed = new ArrayList<>();
        StorageWriteFailure thrown = null;
        while (thrown == null) {
            try {
                addShelf(committed);
            } catch (StorageWriteFailure e) {
                thrown = e;
            }
        }
        assertTrue(thrown.getMessage().contains("No space left"), thrown.getMessage());
        assertTrue(thrown.getMessage().contains(full == Full.POOL ? "its-pool" : mount.toString()),
                thrown.getMessage());
        assertTrue(committed.size() > 50, committed.size() + " fit");
        assertEquals(committed.size(), shelves(), "what was committed is seen, the rest is undone");
        assertThrows(StorageWriteFailure.class, () -> {
            for (int i = 0; i < 1000; i++) {
                addShelf(committed);
            }
        }, "it stays full");
        Path stopped = Stores.withoutPool(at, directory.resolve("stopped"));
        Files.delete(filler);
        addShelf(committed);
        ann.add(1);
        assertEquals(committed.size(), shelves(), "there is room again");
        store.close();
        store = Store.open(at);
        assertEquals(committed.size(), shelves());
        assertEquals(11, store.root("ann", Account.class).balance());
        Stores.check(store);
        store.close();
        Files.writeString(stopped.resolve("store.properties"),
                Files.readString(stopped.resolve("store.properties")).replaceAll("pool=.*\n", ""));
        store = Store.open(stopped);
        assertEquals(committed.size() - 1, shelves(), "the machine stopped while it was full");
        Stores.check(store);
        store.close();
        store = null;
    }

    private void addShelf(List<Long> committed) {
        long number = committed.size();
        Transaction.run(() -> {
            Shelf shelf = Factory.newInstanceNear(Shelf.class, store.root("ann", Account.class),
                    "shelf of number " + number + " " + "x".repeat(500));
            shelf.large = number;
            Shelf last = store.root("shelves", Shelf.class);
            shelf.shelves = Factory.newArrayOfNear(Shelf.class, 1, shelf);
            shelf.shelves[0] = last;
            store.setRoot("shelves", shelf);
        });
        committed.add(number);
    }

    private int shelves() {
        return Transaction.call(() -> {
            int count = 0;
            for (Shelf at = store.root("shelves", Shelf.class); at != null; at = at.shelves[0]) {
                assertTrue(at.text.startsWith("shelf of number " + at.large + " "));
                count++;
            }
            return count;
        });
    }

    /** A store with a container whose file is then damaged; the other one is to stay usable. */
    private Path withOther() {
        Path at = directory.resolve("store");
        open(at);
        Container other = store.createContainer("other", 1 << 20);
        Account last = null;
        for (int i = 0; i < 40; i++) {
            Account next = Factory.newInstanceIn(Account.class, other, i, "somebody with number " + i);
            next.link(last);
            next.add(i);
            last = next;
        }
        store.setRoot("last", last);
        store.close();
        store = null;
        return Stores.withoutPool(at, directory.resolve("whole"));
    }

    @Test
    void aContainerThatCannotBeReadIsNamedAndOthersStayUsable() throws Exception {
        Path at = withOther();
        Files.delete(at.resolve("other.container"));
        // No user, not even root, can read a directory as a file.
        Files.createDirectory(at.resolve("other.container"));
        store = Store.open(at);
        store.root("ann", Account.class).add(1);
        var thrown = assertThrows(SASException.class, () -> store.root("last", Account.class).balance());
        assertTrue((thrown instanceof ContainerDamaged || thrown instanceof StorageReadFailure)
                && thrown.getMessage().contains("other"), thrown.toString());
    }

    @Test
    void flippedBitsAndCutFilesNeverShowAsValues() throws Exception {
        Path whole = withOther();
        byte[] bytes = Files.readAllBytes(whole.resolve("other.container"));
        Random random = new Random(SEED);
        int damaged = 0;
        int rounds = Integer.getInteger("sas.flips", 40);
        for (int round = 0; round < rounds; round++) {
            byte[] its = bytes.clone();
            // Most of the file is a hole, so half of the flips are where its pages are.
            int at = round % 2 == 0 ? random.nextInt(its.length) : its.length - 1 - random.nextInt(8192);
            if (round % 4 == 3) {
                its = Arrays.copyOf(its, at);
            } else {
                its[at] ^= (byte) (1 << random.nextInt(8));
            }
            Path copy = Stores.withoutPool(whole, directory.resolve("copy"));
            Files.deleteIfExists(copy.resolve("pool"));
            Files.write(copy.resolve("other.container"), its);
            String where = "round " + round + " at " + at + " of " + bytes.length + ", seed " + SEED;
            store = Store.open(copy);
            assertEquals(10, store.root("ann", Account.class).balance(), where);
            store.root("ann", Account.class).rename("Ann");
            damaged += isReadWhole(where) ? 0 : 1;
            store.close();
            store = null;
        }
        assertTrue(damaged > rounds / 4, damaged + " of " + rounds + " damages were noticed");
    }

    /**
     * What is committed to a page is applied to all of it, so the page gets a new check: but not one that makes a
     * flipped bit good.
     */
    @Test
    void aBitThatFlipsInAPageIsNoticedAfterAReplayIntoIt() throws Exception {
        Path whole = withOther();
        Random random = new Random(SEED);
        for (int round = 0; round < 10; round++) {
            Path copy = Stores.withoutPool(whole, directory.resolve("replayed"));
            Files.deleteIfExists(copy.resolve("pool"));
            store = Store.open(copy);
            for (Account at = store.root("last", Account.class); at != null; at = at.next()) {
                at.add(100);
            }
            Path file = copy.resolve("other.container");
            byte[] bytes = Files.readAllBytes(file);
            int at = bytes.length - 1 - random.nextInt(4096);
            bytes[at] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, bytes);
            store.close();
            Files.delete(copy.resolve("pool"));
            String where = "round " + round + " at " + at + " of " + bytes.length + ", seed " + SEED;
            store = Store.open(copy);
            assertEquals(10, store.root("ann", Account.class).balance(), where);
            var thrown = assertThrows(SASException.class, () -> {
                for (Account its = store.root("last", Account.class); its != null; its = its.next()) {
                    assertEquals(100 + its.number(), its.balance(), where);
                    assertEquals("somebody with number " + its.number(), its.owner(), where);
                }
            }, where);
            assertTrue((thrown instanceof ContainerDamaged || thrown instanceof StorageReadFailure)
                    && thrown.getMessage().contains("other"), where + ": " + thrown);
            store.close();
            store = null;
        }
    }

    /** Whether the other container's accounts are all there; false if it is said to be damaged. */
    private boolean isReadWhole(String where) {
        try {
            Account at = store.root("last", Account.class);
            for (int i = 39; i >= 0; i--) {
                assertEquals(i, at.number(), where);
                assertEquals(i, at.balance(), where);
                assertEquals("somebody with number " + i, at.owner(), where);
                at = at.next();
            }
            return true;
        } catch (ContainerDamaged | StorageReadFailure e) {
            assertTrue(e.getMessage().contains("other"), where + ": " + e);
            return false;
        }
    }
}
