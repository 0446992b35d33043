package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.TransactionConflict;
import dev.norn.sas.util.SasList;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * While a transaction holds an object, a handle's own fields have its values. These tests are about when they may not
 * be used: after the transaction's end, through another handle, in another thread, and after the object is gone.
 */
class HeldHandlesTest {
    @TempDir
    Path directory;
    private Store store;
    private Container main;
    private final ExecutorService other = Executors.newSingleThreadExecutor();

    @BeforeEach
    void open() {
        store = Store.create(directory, Stores.SMALL.withLockTimeoutMillis(200));
        main = store.container("main");
    }

    @AfterEach
    void close() {
        other.shutdownNow();
        store.close();
    }

    private Account account(int number) {
        return Factory.newInstanceIn(Account.class, main, number, "x");
    }

    /** Another handle of the same object. */
    private Account again(Account account) {
        store.setRoot("again", account);
        return store.root("again", Account.class);
    }

    private <T> T elsewhere(Callable<T> action) {
        try {
            return other.submit(action).get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void elsewhere(Runnable action) {
        elsewhere(Executors.callable(action));
    }

    @Test
    void behindTheEndOthersChangesAreSeen() {
        Account ann = account(1);
        Transaction.run(() -> assertEquals(0, ann.balance()));
        elsewhere(() -> again(ann).add(5));
        assertEquals(5, ann.balance());
        Transaction.run(() -> assertEquals(5, ann.balance()));
        Transaction.run(() -> ann.add(1));
        elsewhere(() -> again(ann).add(5));
        Transaction.run(() -> assertEquals(11, ann.balance()));
    }

    @Test
    void behindAnAbortWhatWasBeforeIsSeen() {
        Account ann = account(1);
        Account bob = account(2);
        Transaction.begin();
        ann.add(7);
        ann.link(bob);
        Transaction.abort();
        assertEquals(0, ann.balance());
        Transaction.run(() -> {
            assertEquals(0, ann.balance());
            assertNull(ann.next());
        });
    }

    @Test
    void aLockForReadingDoesNotLastForWriting() {
        Account ann = account(1);
        Account its = again(ann);
        Transaction.run(() -> ann.add(1));
        Transaction.begin();
        assertEquals(1, ann.balance());
        elsewhere(Transaction::begin);
        assertEquals(1, elsewhere(its::balance));
        assertThrows(TransactionConflict.class, () -> ann.add(1), "the other transaction reads it");
        Transaction.abort();
        elsewhere(Transaction::commit);
        assertEquals(1, ann.balance());
    }

    @Test
    void handlesOfOneObjectShowTheSame() {
        Account ann = account(1);
        Account its = again(ann);
        Account bob = account(2);
        Transaction.run(() -> {
            assertEquals(0, ann.balance());
            its.add(3);
            assertEquals(3, ann.balance());
            ann.add(4);
            assertEquals(7, its.balance());
            assertNull(ann.next());
            its.link(bob);
            assertTrue(ann.next() == bob);
            ann.link(null);
            assertNull(its.next());
            ann.link(bob);
        });
        assertEquals(7, ann.balance());
        assertTrue(its.next() == bob);
        Transaction.run(() -> {
            assertEquals(7, its.balance());
            assertSame(its.next().next(), ann.next().next());
            assertSame(its, store.root("again", Account.class), "the handle that the transaction uses already");
        });
    }

    @Test
    void aKeptTargetIsAskedForAnew() {
        Account ann = account(1);
        Account bob = account(2);
        Account eve = account(3);
        Transaction.run(() -> {
            ann.link(bob);
            assertEquals(2, ann.next().number());
        });
        elsewhere(() -> again(ann).link(eve));
        assertEquals(3, ann.next().number());
        Transaction.run(() -> assertEquals(3, ann.next().number()));
        elsewhere(() -> again(ann).link(null));
        assertNull(ann.next());
        Transaction.run(() -> assertNull(ann.next()));
    }

    @Test
    void aHandleInTwoThreadsIsOfOneTransactionAtATime() {
        Account ann = account(1);
        Transaction.begin();
        ann.add(5);
        elsewhere(Transaction::begin);
        assertThrows(TransactionConflict.class, () -> elsewhere(ann::balance), "not committed yet");
        elsewhere(Transaction::abort);
        assertThrows(TransactionConflict.class, () -> elsewhere(ann::balance), "nor is it seen outside transactions");
        Transaction.commit();
        assertEquals(5, elsewhere(ann::balance));
    }

    @Test
    void aHandleThatTwoTransactionsReadIsLeftByBoth() {
        Account ann = account(1);
        Transaction.begin();
        assertEquals(0, ann.balance());
        elsewhere(Transaction::begin);
        assertEquals(0, elsewhere(ann::balance));
        assertEquals(0, ann.balance());
        elsewhere(Transaction::commit);
        assertEquals(0, ann.balance());
        Account its = elsewhere(() -> again(ann));
        elsewhere(Transaction::begin);
        assertThrows(TransactionConflict.class, () -> elsewhere(() -> its.add(1)), "it is still locked here");
        elsewhere(Transaction::abort);
        ann.add(1);
        Transaction.commit();
        elsewhere(() -> again(ann).add(1));
        assertEquals(2, ann.balance());
        Transaction.run(() -> assertEquals(2, ann.balance()));
        elsewhere(() -> Transaction.run(() -> assertEquals(2, ann.balance())));
    }

    /**
     * After a conflict, a transaction that reads an object takes it exclusively, as it is likely to change it. That
     * ends soon if no transaction changes the object.
     */
    @Test
    void readersOfAnObjectThatHadAConflictAreNotKeptApart() {
        Account ann = account(1);
        Account its = elsewhere(() -> again(ann));
        Transaction.begin();
        ann.balance();
        elsewhere(Transaction::begin);
        elsewhere(its::balance);
        assertThrows(TransactionConflict.class, () -> elsewhere(() -> its.add(1)));
        elsewhere(Transaction::abort);
        assertEquals(0, ann.balance(), "who begins himself has no more locks than he needs");
        elsewhere(Transaction::begin);
        assertEquals(0, elsewhere(its::balance));
        elsewhere(Transaction::commit);
        Transaction.commit();
        Transaction.run(() -> assertEquals(0, ann.balance()));
        Transaction.run(() -> {
            assertEquals(0, ann.balance());
            elsewhere(() -> Transaction.run(() -> assertEquals(0, its.balance())));
        });
    }

    @Test
    void whatIsGoneIsGoneThroughEveryHandle() {
        Account ann = account(1);
        Account its = again(ann);
        Account bob = account(2);
        bob.link(ann);
        Account bobAgain = again(bob);
        Transaction.run(() -> {
            ann.add(1);
            assertEquals(1, its.balance());
            Factory.destroyInstance(its);
            assertThrows(ObjectDestroyed.class, ann::balance);
            assertThrows(ObjectDestroyed.class, () -> ann.add(1));
            assertThrows(ObjectDestroyed.class, its::balance);
        });
        // Storage is used again for objects of this size, with the next generation.
        List<Account> more = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            more.add(account(i));
        }
        Transaction.run(() -> {
            for (Account one : more) {
                assertEquals(0, one.balance());
            }
            assertThrows(ObjectDestroyed.class, ann::balance);
            assertThrows(ObjectDestroyed.class, () -> its.add(1));
            assertThrows(ObjectDestroyed.class, bobAgain::next);
        });
        assertThrows(ObjectDestroyed.class, ann::balance);
    }

    @Test
    void anOpenTransactionEndsWithItsStore() {
        Account ann = account(1);
        store.setRoot("ann", ann);
        Transaction.begin();
        ann.add(5);
        store.close();
        assertThrows(dev.norn.sas.exception.SASException.class, ann::balance);
        store = Store.open(directory);
        assertEquals(0, store.root("ann", Account.class).balance());
    }

    /** Random transactions of one thread, through three handles of each object, beside a plain model. */
    @Test
    void randomUseOfManyHandlesAgreesWithAModel() {
        long seed = Long.getLong("sas.seed", System.nanoTime());
        Random random = new Random(seed);
        int count = 5;
        Account[][] handles = new Account[count][3];
        long[] balances = new long[count];
        int[] nexts = new int[count];
        java.util.Arrays.fill(nexts, -1);
        for (int i = 0; i < count; i++) {
            handles[i][0] = account(i);
            handles[i][1] = again(handles[i][0]);
            handles[i][2] = again(handles[i][0]);
        }
        String replay = "seed " + seed
                + ": tools/java25 mvn -f java test -pl sas -Dtest=HeldHandlesTest -Dsas.seed=" + seed;
        for (int round = 0; round < 300; round++) {
            long[] balancesThen = balances.clone();
            int[] nextsThen = nexts.clone();
            boolean isInside = random.nextInt(4) > 0;
            if (isInside) {
                Transaction.begin();
            }
            for (int step = random.nextInt(12); step >= 0; step--) {
                int i = random.nextInt(count);
                Account handle = handles[i][random.nextInt(3)];
                switch (random.nextInt(4)) {
                    case 0 -> assertEquals(balances[i], handle.balance(), replay);
                    case 1 -> assertEquals(nexts[i], handle.next() == null ? -1 : handle.next().number(), replay);
                    case 2 -> {
                        handle.add(round);
                        balances[i] += round;
                    }
                    default -> {
                        nexts[i] = random.nextInt(count + 1) - 1;
                        handle.link(nexts[i] < 0 ? null : handles[nexts[i]][random.nextInt(3)]);
                    }
                }
            }
            if (isInside && random.nextInt(3) == 0) {
                Transaction.abort();
                balances = balancesThen;
                nexts = nextsThen;
            } else if (isInside) {
                Transaction.commit();
            }
        }
    }

    /** Threads that use the same handles move amounts about; a transaction that adds up finds the same sum. */
    @Test
    void threadsWithTheSameHandlesKeepTheSum() throws Exception {
        store.close();
        store = Store.create(directory.resolve("patient"), Stores.SMALL.withLockTimeoutMillis(20_000));
        main = store.container("main");
        Account[] accounts = new Account[4];
        for (int i = 0; i < accounts.length; i++) {
            accounts[i] = account(i);
        }
        long end = System.nanoTime() + 1_000_000_000L;
        try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
            List<Future<Long>> sums = new ArrayList<>();
            for (int thread = 0; thread < 3; thread++) {
                Random random = new Random(thread);
                sums.add(threads.submit(() -> {
                    long worst = 0;
                    while (System.nanoTime() < end) {
                        int from = random.nextInt(4);
                        int to = random.nextInt(4);
                        Transaction.run(() -> {
                            accounts[from].add(-1);
                            accounts[to].add(1);
                        });
                        long sum = Transaction.call(() -> accounts[0].balance() + accounts[1].balance()
                                + accounts[2].balance() + accounts[3].balance());
                        worst = Math.max(worst, Math.abs(sum));
                    }
                    return worst;
                }));
            }
            for (Future<Long> sum : sums) {
                assertEquals(0, sum.get());
            }
        }
    }

    @Test
    void fieldsOfAnyTypeKeepTheirTargets() {
        List<Account> list = Factory.newInstanceIn(SasList.class, main);
        for (int i = 0; i < 20; i++) {
            list.add(account(i));
        }
        Account before = Transaction.call(() -> list.get(3));
        for (int round = 0; round < 3; round++) {
            // JUnit is not transformed, so this compares Java objects.
            assertSame(before, Transaction.call(() -> list.get(3)), "the same Java object serves again");
        }
        Transaction.run(() -> list.set(3, account(33)));
        assertEquals(33, Transaction.call(() -> list.get(3).number()));
    }

    @Test
    void aConflictNamesTheObjectAndWhoHasIt() {
        Account ann = account(1);
        elsewhere(() -> {
            Transaction.begin();
            ann.add(1);
        });
        String who = "the dev.norn.sas.example.Account at " + ann.toString().split("@")[1]
                + ", locked by a transaction of process " + ProcessHandle.current().pid() + ", which is this one";
        Transaction.begin();
        assertEquals("no lock within 200 ms on " + who,
                assertThrows(TransactionConflict.class, () -> ann.add(1)).getMessage());
        Transaction.abort();
        assertEquals("no committed values within 200 ms of " + who,
                assertThrows(TransactionConflict.class, ann::balance).getMessage());
        elsewhere(Transaction::abort);
        assertEquals(0, ann.balance());
    }

    @Test
    void aHandleOfAClosedStoreIsNoHandleOfTheNext() {
        Account old = account(1);
        store.close();
        assertThrows(SASException.class, old::balance, "no store is open");
        store = Store.create(directory.resolve("other"), Stores.SMALL);
        main = store.container("main");
        Account now = account(2);
        for (Executable use : List.<Executable>of(old::balance, () -> old.add(1), () -> Transaction.run(old::balance),
                () -> Transaction.run(() -> old.add(1)), () -> now.link(old), () -> store.setRoot("old", old),
                () -> Factory.destroyInstance(old), () -> Factory.newInstanceNear(Account.class, old, 3, "x"))) {
            String message = assertThrows(SASException.class, use).getMessage();
            assertTrue(message.contains("Account is a handle of a store that was closed"), message);
        }
        assertNotEquals(old, now);
        assertEquals(0, now.balance());
        Stores.check(store);
    }

    /** Each handle keeps the next one, so the first would keep all of them for ever. */
    @Test
    void aKeptHandleDoesNotKeepAllThatItLedTo() throws Exception {
        int count = 80_000;
        for (int transactions : new int[] {1, 40}) {
            Account first = Transaction.call(() -> {
                Account at = account(0);
                for (int i = 1; i < count; i++) {
                    Account before = Factory.newInstanceIn(Account.class, main, i, null);
                    before.link(at);
                    at = before;
                }
                return at;
            });
            Account head = again(first);
            List<WeakReference<Account>> seen = new ArrayList<>();
            Account[] at = {head};
            for (int i = 0; i < transactions; i++) {
                Transaction.run(() -> {
                    for (int step = 0; step < (count - 1) / transactions; step++) {
                        at[0] = at[0].next();
                    }
                    seen.add(new WeakReference<>(at[0]));
                });
            }
            at[0] = null;
            first = null;
            for (int i = 0; i < 50 && seen.getLast().get() != null; i++) {
                System.gc();
                Thread.sleep(10);
            }
            assertNull(seen.getLast().get(), transactions + " transactions");
            assertEquals(count - 1, head.number());
        }
    }
}
