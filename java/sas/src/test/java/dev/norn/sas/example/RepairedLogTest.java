package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.log.LogBytes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The log is damaged, cut off or removed while the pool has all that was committed: nothing is lost, and the
 * containers' files have it when the store is open again.
 */
class RepairedLogTest {
    @TempDir
    Path directory;
    private Path at;
    private Path log;
    private Store store;
    private Account ann;

    @BeforeEach
    void create() {
        at = directory.resolve("store");
        log = at.resolve("redo.log");
        store = Store.create(at, Store.Options.defaults().withLogBytes(1 << 18).withMainBytes(1 << 20));
        ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        store.setRoot("ann", ann);
        store.attached().checkpoint();
        for (int i = 1; i <= 40; i++) {
            int number = i;
            Transaction.run(() -> {
                ann.add(1);
                Account next = Factory.newInstanceNear(Account.class, ann, number,
                        "account of somebody with a longer name " + number);
                next.link(ann.next());
                ann.link(next);
            });
        }
    }

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
        }
    }

    private void verify(String when) {
        ann = store.root("ann", Account.class);
        assertEquals(40, ann.balance(), when);
        Account account = ann.next();
        for (int i = 40; i > 0; i--) {
            assertEquals("account of somebody with a longer name " + i, account.owner(), when);
            account = account.next();
        }
        Stores.check(store);
    }

    /** The store is opened beside the pool, and then without it. */
    private void verifyRepaired() {
        store = Store.open(at);
        verify("repaired");
        store.close();
        store = Store.open(Stores.withoutPool(at, directory.resolve("without pool")));
        verify("without the pool");
        ann.rename("Ann Other");
        store.close();
        store = Store.open(Stores.withoutPool(directory.resolve("without pool"), directory.resolve("again")));
        assertEquals("Ann Other", store.root("ann", Account.class).owner());
    }

    @Test
    void aDamagedRecordThatOnlyTheLogHadIsInThePool() throws Exception {
        byte[] bytes = Files.readAllBytes(log);
        bytes[LogBytes.of(at).place(1000)] ^= 1;
        Files.write(log, bytes);
        var thrown = assertThrows(StorageWriteFailure.class, store::close);
        assertTrue(thrown.getMessage().contains("no valid record is at position"), thrown.getMessage());
        verifyRepaired();
        assertEquals(-1, Arrays.mismatch(bytes, Files.readAllBytes(at.resolve("redo.lost-1"))));
    }

    @Test
    void aLogThatIsRemovedUnderARunningStore() throws Exception {
        Files.delete(log);
        String said = CommandTest.sas(1, "ls", at);
        assertTrue(said.contains("which other programs use, is damaged: it is not there")
                && said.contains("nothing is lost then"), said);
        assertFalse(Files.exists(log));
        assertThrows(StorageWriteFailure.class, () -> store.attached().checkpoint());
        var thrown = assertThrows(StorageWriteFailure.class, () -> ann.add(1));
        assertTrue(thrown.getMessage().contains("redo.log was removed or replaced while it was in use"),
                thrown.getMessage());
        verify("in the pool");
        assertThrows(StorageWriteFailure.class, store::close);
        verifyRepaired();
    }

    @Test
    void aLogThatIsRemovedAndPutBack() throws Exception {
        Path aside = directory.resolve("aside");
        Files.move(log, aside);
        assertThrows(StorageWriteFailure.class, () -> store.attached().checkpoint());
        assertThrows(StorageWriteFailure.class, store::close);
        Files.move(aside, log);
        verifyRepaired();
        assertFalse(Files.exists(at.resolve("redo.lost-1")), "there was nothing to repair");
    }

    @Test
    void aLogThatIsRemovedCutOffOrReplacedWhenTheStoreIsClosed() throws Exception {
        Path other = directory.resolve("other");
        store.close();
        Store.create(other, Stores.SMALL).close();
        for (int kind = 0; kind < 4; kind++) {
            switch (kind) {
                case 0 -> Files.delete(log);
                case 1 -> Files.write(log, Arrays.copyOf(Files.readAllBytes(log), 10_000));
                case 2 -> Files.write(log, Files.readAllBytes(other.resolve("redo.log")));
                default -> Files.write(log, new byte[0]);
            }
            store = Store.open(at);
            verify("kind " + kind);
            store.close();
            assertEquals(kind > 0, Files.exists(at.resolve("redo.lost-" + Math.max(1, kind))));
        }
        verifyRepaired();
    }

    /**
     * What waits for a container's file is in the pool: when the containers are written from there, it must not be done
     * again.
     */
    @Test
    void aContainerThatWasRemovedAsWellIsWrittenFromThePool() throws Exception {
        Files.delete(at.resolve("main.container"));
        store.attached().checkpoint();
        assertTrue(Files.exists(at.resolve("redo.unapplied")));
        Transaction.run(() -> ann.rename("a name that waits"));
        store.attached().checkpoint();
        Transaction.run(() -> ann.rename("Ann"));
        Files.write(log, Arrays.copyOf(Files.readAllBytes(log), 10_000));
        assertThrows(StorageWriteFailure.class, store::close);
        verifyRepaired();
        assertFalse(Files.exists(at.resolve("redo.unapplied")));
        assertEquals("Ann Other", store.root("ann", Account.class).owner());
    }
}
