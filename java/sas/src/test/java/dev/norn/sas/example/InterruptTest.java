package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program may interrupt its threads: what they commit is committed, they stay interrupted, and the store is there for
 * all others.
 */
class InterruptTest {
    @TempDir
    Path directory;

    /** Long, so that the log grows and goes round, and the pool grows. */
    private static void change(Store store, Account account, int step) {
        Transaction.run(() -> {
            account.add(1);
            store.setRoot("page", LogRingTest.Page.create(step % 50 == 49 ? 20_000 : 500, account));
        });
    }

    @Test
    void anInterruptedThreadCommits() throws Exception {
        Thread.currentThread().interrupt();
        try (Store store = Store.create(directory, Stores.SMALL)) {
            Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
            store.setRoot("ann", ann);
            for (int i = 0; i < 100; i++) {
                change(store, ann, i);
            }
            store.attached().checkpoint();
            assertTrue(Thread.interrupted(), "it stays interrupted");
            Thread other = Thread.ofPlatform().start(() -> change(store, ann, 0));
            other.join();
            assertEquals(101, ann.balance());
            Stores.check(store);
        }
        try (Store store = Store.open(directory)) {
            assertEquals(101, store.root("ann", Account.class).balance());
        }
    }

    @Test
    void interruptsAtAnyMomentHarmNobody() throws Exception {
        try (Store store = Store.create(directory, Stores.SMALL)) {
            Account[] accounts = {Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann"),
                    Factory.newInstanceIn(Account.class, store.container("main"), 2, "Bob")};
            AtomicInteger[] committed = {new AtomicInteger(), new AtomicInteger()};
            Thread[] threads = new Thread[2];
            for (int t = 0; t < 2; t++) {
                int number = t;
                threads[t] = Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < 600; i++) {
                        change(store, accounts[number], i);
                        committed[number].incrementAndGet();
                        Thread.interrupted();
                    }
                });
            }
            while (threads[0].isAlive()) {
                threads[0].interrupt();
                Thread.sleep(0, 50_000);
            }
            threads[1].join();
            assertEquals(600, committed[0].get(), "the interrupted one");
            assertEquals(600, committed[1].get(), "the other one");
            assertEquals(600, accounts[0].balance());
            assertEquals(600, accounts[1].balance());
            Stores.check(store);
        }
    }
}
