package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StoreClosed;
import dev.norn.sas.exception.TransactionConflict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store that is closed beside threads that use it, and opened again: transactions are waited for or refused, nothing
 * stays locked, and a thread that is late gets an exception that says so.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CloseTest {
    private static final int ROUNDS = Integer.getInteger("sas.rounds", 6);
    private static final int THREADS = 4;

    @TempDir
    Path directory;
    private Path at;
    private Store store;

    private void create(int timeoutMillis) {
        at = directory.resolve("store");
        store = Store.create(at, Stores.SMALL.withLockTimeoutMillis(timeoutMillis));
        store.setRoot("ann", Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann"));
        store.setRoot("bank", Bank.create(store.container("main"), BankProgram.ACCOUNTS));
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static void undo(Account ann) {
        Transaction.begin();
        try {
            ann.add(-1000);
            Factory.newInstanceNear(Account.class, ann, 3, "a creation that is undone");
        } catch (TransactionConflict e) {
            // Two that have read want to write.
        } finally {
            Transaction.abort();
        }
    }

    /**
     * Uses the store in each way, over and over, until a call says that the store is closed; counts what was committed.
     */
    private static void use(Store store, Random random, AtomicLong committed,
            ConcurrentLinkedQueue<Throwable> unexpected) {
        try {
            Bank bank = store.root("bank", Bank.class);
            Account ann = store.root("ann", Account.class);
            for (;;) {
                BankProgram.transfer(bank, random);
                committed.incrementAndGet();
                assertTrue(ann.balance() >= 0 && ann.owner().equals("Ann"), "outside transactions");
                undo(ann);
                assertTrue(store.container("main").bytesUsed() > 0);
            }
        } catch (StoreClosed e) {
            // As it should be.
        } catch (Throwable e) {
            unexpected.add(e);
        }
    }

    @Test
    void aStoreIsClosedAndOpenedBesideThreadsThatUseIt() throws Exception {
        create(20_000);
        long before = store.root("bank", Bank.class).transfers();
        AtomicLong committed = new AtomicLong();
        ConcurrentLinkedQueue<Throwable> unexpected = new ConcurrentLinkedQueue<>();
        Random random = new Random(7);
        for (int round = 0; round < ROUNDS; round++) {
            Store open = store;
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Random own = new Random(random.nextLong());
                threads.add(Thread.ofPlatform().start(() -> use(open, own, committed, unexpected)));
            }
            Thread.sleep(random.nextInt(200));
            store.close();
            store = Store.open(at);
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(List.of(), List.copyOf(unexpected));
            assertEquals(0, store.attached().openTransactions());
            Bank bank = store.root("bank", Bank.class);
            assertNull(Transaction.call(() -> bank.audit(BankProgram.ACCOUNTS)));
            assertEquals(before + committed.get(), bank.transfers());
            assertEquals(0, store.root("ann", Account.class).balance());
            Stores.check(store);
        }
    }

    @Test
    void aTransactionThatDoesNotEndIsNamedAndTheStoreStaysOpen() throws Exception {
        create(200);
        Account ann = store.root("ann", Account.class);
        CountDownLatch hasWritten = new CountDownLatch(1);
        CountDownLatch mayCommit = new CountDownLatch(1);
        Thread thread = Thread.ofPlatform().name("long one").start(() -> Transaction.run(() -> {
            ann.add(5);
            hasWritten.countDown();
            try {
                mayCommit.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }));
        hasWritten.await();
        var thrown = assertThrows(SASException.class, store::close);
        assertTrue(thrown.getMessage().contains("\"long one\"") && thrown.getMessage().contains("stays open"),
                thrown.getMessage());
        Transaction.run(() -> store.root("bank", Bank.class).transfer(1, 2, 3));
        mayCommit.countDown();
        thread.join();
        assertEquals(5, ann.balance());
        store.close();
        store = Store.open(at);
        assertEquals(5, store.root("ann", Account.class).balance());
    }

    @Test
    void theCallersTransactionIsUndoneAndThoseOfEndedThreads() throws Exception {
        create(20_000);
        Account ann = store.root("ann", Account.class);
        int[] array = Factory.newIntArrayNear(3, ann);
        Thread.ofPlatform().start(() -> {
            Transaction.begin();
            store.root("bank", Bank.class).transfer(1, 2, 3);
        }).join();
        Transaction.begin();
        ann.add(7);
        array[0] = 1;
        store.close();
        store = Store.open(at);
        assertFalse(Transaction.isActive());
        assertEquals(0, store.root("ann", Account.class).balance());
        Stores.check(store);
    }

    @Test
    void whoWaitsForANotificationIsToldThatTheStoreIsClosed() throws Exception {
        create(20_000);
        Account ann = store.root("ann", Account.class);
        ConcurrentLinkedQueue<Throwable> thrown = new ConcurrentLinkedQueue<>();
        CountDownLatch isInside = new CountDownLatch(1);
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                Transaction.run(() -> {
                    synchronized (ann) {
                        isInside.countDown();
                        try {
                            ann.wait();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }
                });
            } catch (Throwable e) {
                thrown.add(e);
            }
        });
        isInside.await();
        store.close();
        thread.join();
        assertEquals(List.of(StoreClosed.class), thrown.stream().map(Object::getClass).toList(), thrown::toString);
        store = Store.open(at);
    }

    @Test
    void whatIsOfAClosedStoreSaysSo() {
        create(20_000);
        Account ann = store.root("ann", Account.class);
        Container main = store.container("main");
        Store closed = store;
        store.close();
        assertThrows(StoreClosed.class, ann::balance);
        assertThrows(StoreClosed.class, main::bytesUsed);
        assertThrows(StoreClosed.class, () -> Transaction.run(() -> ann.add(1)));
        store = Store.open(at);
        assertThrows(StoreClosed.class, ann::balance);
        assertThrows(StoreClosed.class, () -> ann.add(1));
        assertThrows(StoreClosed.class, main::bytesUsed);
        assertThrows(StoreClosed.class, () -> Factory.newInstanceIn(Account.class, main, 2, "Bob"));
        assertThrows(StoreClosed.class, () -> closed.attached().checkpoint());
        closed.close();
        assertEquals(0, store.root("ann", Account.class).balance(), "closing it again closes no other");
    }
}
