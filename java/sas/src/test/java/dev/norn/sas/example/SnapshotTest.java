package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ContainerException;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.SnapshotTooOld;
import dev.norn.sas.exception.StoreClosed;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.util.SasLongArray;
import dev.norn.sas.util.SasMap;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Read-only transactions: what they see, that they wait for nobody, and what they refuse. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SnapshotTest {
    @TempDir
    Path directory;

    private Store create() {
        return Stores.createWithAccounts(directory.resolve("store"), Stores.SMALL);
    }

    /** Runs the action in another thread, to its end. */
    private static void elsewhere(Runnable action) {
        Background.inTime(action);
    }

    @Test
    void aReadSeesOneStateWhateverIsCommittedMeanwhile() {
        try (Store store = create()) {
            Account ann = store.root("ann", Account.class);
            Account bob = store.root("bob", Account.class);
            ann.link(bob);
            ann.rename("a name that is stored beside the object");
            Transaction.read(() -> {
                elsewhere(() -> Transaction.run(() -> {
                    ann.add(5);
                    ann.rename("another name that is stored beside the object");
                    ann.link(null);
                    Factory.destroyInstance(bob);
                    store.setRoot("bob", null);
                    store.setRoot("carl", Factory.newInstanceNear(Account.class, ann, 3, "Carl"));
                    store.createContainer("later", 1 << 20);
                }));
                assertEquals(0, ann.balance());
                assertEquals("a name that is stored beside the object", ann.owner());
                assertTrue(ann.next() == bob, "the same object, by another handle");
                assertEquals("Bob", bob.owner());
                assertEquals(List.of("ann", "bob"), store.roots());
                assertEquals(2, store.root("bob", Account.class).number());
                assertNull(store.root("carl", Account.class));
                assertThrows(ContainerException.class, () -> store.container("later"));
                return null;
            });
            assertEquals(5, ann.balance());
            Transaction.read(() -> {
                assertThrows(ObjectDestroyed.class, bob::owner);
                assertEquals(3, store.root("carl", Account.class).number());
                assertEquals("later", store.container("later").name());
                return null;
            });
        }
    }

    @Test
    void anObjectThatWasMadeAfterTheBeginningIsNotThere() {
        try (Store store = create()) {
            Account ann = store.root("ann", Account.class);
            Transaction.read(() -> {
                CompletableFuture<Account> made = Background.call(
                        () -> Factory.newInstanceNear(Account.class, ann, 3, "Carl"));
                Account carl = Background.await(made);
                assertThrows(ObjectDestroyed.class, carl::owner);
                return null;
            });
        }
    }

    /** Its transaction has changed objects of all forms, stays open, and is undone in the end. */
    @Test
    void aReadDoesNotWaitForOneWhoChangesWhatItReads() throws Exception {
        try (Store store = create()) {
            Account ann = store.root("ann", Account.class);
            SasLongArray sums = Factory.newInstanceIn(SasLongArray.class, store.container(Store.MAIN), 100_000);
            SasMap<String, Integer> ages = Factory.newInstanceIn(SasMap.class, store.container(Store.MAIN));
            Transaction.run(() -> {
                sums.set(7, 70);
                ages.put("ann", 30);
            });
            CountDownLatch hasChanged = new CountDownLatch(1);
            CountDownLatch mayEnd = new CountDownLatch(1);
            CompletableFuture<Void> writer = Background.run(() -> {
                Transaction.begin();
                ann.add(5);
                ann.rename("nobody");
                sums.fill(0, 100_000, 9);
                ages.put("ann", 31);
                ages.put("bob", 1);
                Factory.destroyInstance(sums);
                store.setRoot("ann", null);
                hasChanged.countDown();
                await(mayEnd);
                Transaction.abort();
            });
            await(hasChanged);
            long start = System.nanoTime();
            Transaction.read(() -> {
                assertEquals(0, ann.balance());
                assertEquals("Ann", ann.owner());
                assertEquals(70, sums.get(7));
                assertEquals(0, sums.get(99_999));
                assertEquals(70, sums.toArray()[7]);
                assertEquals(100_000, sums.length());
                assertEquals(Map.of("ann", 30), Map.copyOf(ages));
                assertEquals(1, store.root("ann", Account.class).number());
                return null;
            });
            // A lock would be waited for for 10 s.
            assertTrue(System.nanoTime() - start < 5_000_000_000L, "it has waited");
            mayEnd.countDown();
            writer.join();
        }
    }

    /** All that transactions may run in the store do, and the read is none of them. */
    @Test
    void aReadTakesNoPlaceAmongTransactions() throws Exception {
        try (Store store = create()) {
            Account ann = store.root("ann", Account.class);
            CountDownLatch mayEnd = new CountDownLatch(1);
            List<CompletableFuture<Void>> holders = new ArrayList<>();
            for (int i = 0; i < Format.SLOTS_MAX; i++) {
                holders.add(Background.run(() -> {
                    Transaction.begin();
                    await(mayEnd);
                    Transaction.abort();
                }));
            }
            while (store.attached().openTransactions() < Format.SLOTS_MAX) {
                Thread.sleep(1);
            }
            assertEquals("Ann", Transaction.read(ann::owner));
            mayEnd.countDown();
            holders.forEach(CompletableFuture::join);
        }
    }

    @Test
    void aReadChangesNothing() {
        try (Store store = create()) {
            Account ann = store.root("ann", Account.class);
            Shelf shelf = Factory.newInstanceIn(Shelf.class, store.container(Store.MAIN));
            SasLongArray sums = Factory.newInstanceIn(SasLongArray.class, store.container(Store.MAIN), 10);
            Transaction.read(() -> {
                for (Runnable change : List.<Runnable>of(() -> ann.add(1), () -> ann.rename("Anna"),
                        () -> ann.link(ann), () -> sums.set(1, 1), () -> sums.fill(0, 10, 3),
                        () -> sums.copyFrom(0, new long[1], 0, 1), () -> Factory.destroyInstance(ann),
                        () -> store.setRoot("ann", null), () -> store.createContainer("more", 1 << 20),
                        () -> Factory.newInstanceNear(Account.class, ann, 3, "Carl"), Transaction::begin,
                        Transaction::commit, Transaction::abort, () -> Transaction.run(() -> ann.add(1)))) {
                    SASException refusal = assertThrows(SASException.class, change::run);
                    assertTrue(refusal.getMessage().contains("read-only"), refusal.getMessage());
                }
                assertTrue(Transaction.isActive());
                assertEquals("Ann", Transaction.call(ann::owner), "what only reads is a part of it");
                return shelf;
            });
            assertEquals(0, ann.balance());
            assertEquals(Set.of("ann", "bob"), Set.copyOf(store.roots()));
            ann.add(1);
            Stores.check(store);
        }
    }

    /** An open transaction sees its own changes, and so does a read inside of it. */
    @Test
    void insideATransactionAReadIsAPartOfIt() {
        try (Store store = create()) {
            Account ann = store.root("ann", Account.class);
            Transaction.run(() -> {
                ann.add(7);
                assertEquals(7L, Transaction.<Long, RuntimeException>read(ann::balance));
            });
        }
    }

    /** What is written after the read's beginning is more than the store keeps versions of. */
    @Test
    void aReadThatIsTooOldSaysSo() {
        try (Store store = create()) {
            SasLongArray sums = Factory.newInstanceIn(SasLongArray.class, store.container(Store.MAIN), 1_000_000);
            Account ann = store.root("ann", Account.class);
            Transaction.read(() -> {
                assertEquals("Ann", ann.owner());
                int times = (int) (Format.VERSIONS_BYTES / 8_000_000) + 2;
                for (int i = 1; i <= times; i++) {
                    int value = i;
                    elsewhere(() -> Transaction.run(() -> sums.fill(0, 1_000_000, value)));
                }
                assertEquals("Ann", ann.owner(), "it was read before");
                assertThrows(SnapshotTooOld.class, () -> sums.get(5));
                return null;
            });
            assertTrue(Transaction.<Long, RuntimeException>read(() -> sums.get(5)) > 1);
            Transaction.read(() -> {
                long before = sums.get(5);
                elsewhere(() -> Transaction.run(() -> sums.fill(0, 1_000_000, 0)));
                assertEquals(before, sums.get(999_999));
                return null;
            });
        }
    }

    @Test
    void nothingIsKeptWhileNobodyReads() {
        try (Store store = create()) {
            Account ann = store.root("ann", Account.class);
            long before = Memory.getVolatile(Format.VERSIONS_HEAD);
            ann.add(1);
            assertEquals(before, Memory.getVolatile(Format.VERSIONS_HEAD));
            Transaction.read(() -> {
                elsewhere(() -> ann.add(1));
                return null;
            });
            assertTrue(Memory.getVolatile(Format.VERSIONS_HEAD) > before);
            assertEquals(0, Memory.getVolatile(Format.SNAPSHOTS));
        }
    }

    @Test
    void aReadOfAClosedStoreFails() {
        Store store = create();
        Account ann = store.root("ann", Account.class);
        Account bob = store.root("bob", Account.class);
        assertThrows(StoreClosed.class, () -> Transaction.read(() -> {
            assertEquals("Ann", ann.owner());
            elsewhere(store::close);
            return bob.owner();
        }));
        try (Store again = Store.open(directory.resolve("store"))) {
            assertEquals("Bob", Transaction.read(() -> again.root("bob", Account.class).owner()));
        }
    }

    /** Money is moved by three threads, entries of a journal come and go, and each read finds all of it in accord. */
    @Test
    void readsBesideManyWritersAreConsistent() throws Exception {
        try (Store store = create()) {
            Bank bank = Transaction.call(() -> Bank.create(store.container(Store.MAIN), 20));
            AtomicBoolean isOver = new AtomicBoolean();
            List<CompletableFuture<Void>> writers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int number = i;
                writers.add(Background.run(() -> {
                    for (int step = 0; !isOver.get(); step++) {
                        int from = (step + number) % 20;
                        int to = (step * 7 + 3) % 20;
                        Transaction.run(() -> bank.transfer(from, to, 3));
                    }
                }));
            }
            long last = -1;
            long end = System.nanoTime() + 2_000_000_000L;
            int reads = 0;
            for (; System.nanoTime() < end; reads++) {
                long seen = Transaction.call(bank::transfers);
                long before = last;
                last = Transaction.read(() -> {
                    long transfers = bank.transfers();
                    assertTrue(transfers >= seen && transfers >= before, "what was committed before is seen");
                    assertNull(bank.audit(20));
                    assertEquals(transfers, bank.transfers());
                    return transfers;
                });
            }
            isOver.set(true);
            writers.forEach(CompletableFuture::join);
            assertTrue(reads > 10 && last > 10, reads + " reads, " + last + " transfers");
            Stores.check(store);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
