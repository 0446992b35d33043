package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ContainerFull;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.TransactionConflict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Threads and JVMs that share objects: locks, deadlocks, what is seen from outside transactions, and conditions of one
 * container that others do not notice.
 */
class SharingTest {
    @TempDir
    Path directory;
    private Path at;
    private Store store;
    private Container main;

    @BeforeEach
    void open() {
        at = directory.resolve("store");
        store = Store.create(at, Stores.SMALL.withLockTimeoutMillis(20_000));
        main = store.container("main");
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static void inThread(AtomicReference<Throwable> failure, Runnable action) {
        Thread.ofPlatform().start(() -> {
            try {
                action.run();
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        });
    }

    @Test
    void twoJvmsAndThreadsHereKeepTheBooks() throws Exception {
        Transaction.run(() -> store.setRoot("bank", Bank.create(main, BankProgram.ACCOUNTS)));
        Bank bank = store.root("bank", Bank.class);
        Process[] others = {Stores.start(BankProgram.class, at, 1, 2), Stores.start(BankProgram.class, at, 2, 2)};
        for (Process other : others) {
            assertTrue(other.inputReader().readLine().equals("1"));
            Thread.ofPlatform().daemon().start(() -> other.inputReader().lines().forEach(line -> { }));
        }
        long start = System.nanoTime();
        Random random = new Random(3);
        int audits = 0;
        while (System.nanoTime() - start < 2_000_000_000L) {
            BankProgram.transfer(bank, random);
            assertNull(Transaction.call(() -> bank.audit(BankProgram.ACCOUNTS)));
            audits++;
            if (audits == 20) {
                others[0].toHandle().destroyForcibly();
            }
        }
        others[1].toHandle().destroyForcibly();
        for (Process other : others) {
            other.waitFor();
        }
        // Once, the announcements of dead waiters were taken for deadlocks, a thousand times in a row.
        Transaction.run(() -> bank.transfer(0, 1, 1));
        assertNull(Transaction.call(() -> bank.audit(BankProgram.ACCOUNTS)));
        store.close();
        store = Store.open(at);
        Stores.check(store);
    }

    @Test
    void aPoolThatIsCutOffIsAnException() throws Exception {
        Process program = Stores.start(CutPoolProgram.class, directory.resolve("cut"));
        var lines = program.inputReader().lines().toList();
        assertEquals(0, program.waitFor());
        assertEquals(java.util.List.of("StorageReadFailure", "StorageReadFailure"), lines);
    }

    @Test
    void whatAThreadLeavesInsideATransactionIsUndoneWhenItIsNeeded() throws Exception {
        Account ann = Factory.newInstanceIn(Account.class, main, 1, "Ann");
        ann.add(5);
        // The same handle, and arrays and a class that the store first gets in the transaction that is lost.
        AtomicReference<Shelf> lost = new AtomicReference<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            Transaction.begin();
            ann.add(100);
            lost.set(Factory.newInstanceNear(Shelf.class, ann));
        });
        thread.join();
        Transaction.run(() -> {
            assertEquals(5, ann.balance());
            ann.add(1);
        });
        assertEquals(6, ann.balance());
        assertThrows(SASException.class, () -> lost.get().increase());
        Shelf shelf = Factory.newInstanceNear(Shelf.class, ann);
        assertEquals(1, Transaction.call(shelf::increase));
        store.close();
        store = Store.open(at);
        Stores.check(store);
    }

    @Test
    void aDeadlockIsFoundAndOneGoesOn() throws Exception {
        Account a = Factory.newInstanceIn(Account.class, main, 1, "a");
        Account b = Factory.newInstanceIn(Account.class, main, 2, "b");
        CyclicBarrier both = new CyclicBarrier(2);
        AtomicInteger conflicts = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CountDownLatch ended = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            Account first = i == 0 ? a : b;
            Account second = i == 0 ? b : a;
            inThread(failure, () -> {
                Transaction.begin();
                try {
                    first.add(1);
                    both.await();
                    second.add(1);
                    Transaction.commit();
                } catch (TransactionConflict e) {
                    conflicts.incrementAndGet();
                    Transaction.abort();
                } catch (Exception e) {
                    throw new AssertionError(e);
                } finally {
                    ended.countDown();
                }
            });
        }
        long start = System.nanoTime();
        ended.await();
        assertNull(failure.get());
        assertTrue(System.nanoTime() - start < 10_000_000_000L, "found long before the timeout of 20 s");
        assertTrue(conflicts.get() >= 1);
        assertEquals(2 * (2 - conflicts.get()), a.balance() + b.balance());
    }

    @Test
    void nobodySeesWhatIsNotCommitted() throws Exception {
        Account a = Factory.newInstanceIn(Account.class, main, 1, "a");
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CountDownLatch hasWritten = new CountDownLatch(1);
        CountDownLatch mayAbort = new CountDownLatch(1);
        inThread(failure, () -> {
            Transaction.begin();
            a.add(5);
            a.rename("somebody whose name is never committed");
            hasWritten.countDown();
            try {
                mayAbort.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            Transaction.abort();
        });
        hasWritten.await();
        AtomicReference<String> seen = new AtomicReference<>();
        CountDownLatch hasRead = new CountDownLatch(1);
        inThread(failure, () -> {
            seen.set(a.balance() + " " + a.owner());
            hasRead.countDown();
        });
        Thread.sleep(50);
        assertNull(seen.get(), "a reader outside transactions waits for the writer");
        mayAbort.countDown();
        hasRead.await();
        assertNull(failure.get());
        assertEquals("0 a", seen.get());
    }

    @Test
    void countersDoNotLoseIncrements() throws Exception {
        Account a = Factory.newInstanceIn(Account.class, main, 1, "a");
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CountDownLatch ended = new CountDownLatch(4);
        for (int thread = 0; thread < 4; thread++) {
            inThread(failure, () -> {
                try {
                    for (int i = 0; i < 200; i++) {
                        Transaction.run(() -> a.add(1));
                    }
                } finally {
                    ended.countDown();
                }
            });
        }
        ended.await();
        assertNull(failure.get());
        assertEquals(800, a.balance());
    }

    @Test
    void aFullContainerThrowsAndOthersGoOn() {
        Container small = store.createContainer("small", 64 << 10);
        assertThrows(ContainerFull.class, () -> Transaction.run(() -> {
            for (int i = 0; i < 10_000; i++) {
                Factory.newInstanceIn(Account.class, small, i, "somebody with a long name in a small container");
            }
        }));
        Account a = Factory.newInstanceIn(Account.class, small, 1, "a");
        assertEquals(1, a.number());
        assertEquals(small, Factory.getInstanceContainer(a));
        assertTrue(small.bytesUsed() <= 64 << 10);
        Factory.newInstanceIn(Account.class, main, 2, "b");
        Stores.check(store);
    }

    @Test
    void aDamagedContainerIsNamedAndOthersStayUsable() throws Exception {
        store.createContainer("other", 1 << 20);
        Account good = Factory.newInstanceIn(Account.class, main, 1, "good");
        Account bad = Factory.newInstanceIn(Account.class, store.container("other"), 2, "bad");
        store.setRoot("good", good);
        store.setRoot("bad", bad);
        store.close();
        Path file = at.resolve("other.container");
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 4000] ^= 1;
        Files.write(file, bytes);
        Path copy = Stores.withoutPool(at, directory.resolve("copy"));
        store = Store.open(copy);
        assertEquals("good", store.root("good", Account.class).owner());
        var thrown = assertThrows(dev.norn.sas.exception.ContainerDamaged.class,
                () -> Transaction.run(() -> store.root("bad", Account.class).balance()));
        assertTrue(thrown.getMessage().contains("other") && thrown.getMessage().contains("page 0"),
                thrown.getMessage());
        assertThrows(dev.norn.sas.exception.ContainerDamaged.class, () -> store.root("bad", Account.class).balance());
    }

    @Test
    void aJvmHasOneStoreAtATimeAndAThreadOneTransaction() {
        assertThrows(SASException.class, () -> Store.open(at));
        Transaction.begin();
        assertThrows(SASException.class, Transaction::begin);
        Transaction.abort();
        assertThrows(SASException.class, Transaction::commit);
    }
}
