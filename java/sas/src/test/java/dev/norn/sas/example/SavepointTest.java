package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.TransactionConflict;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A nested run that throws takes back what it did, and no more: fields, arrays, collections, creation, destruction,
 * adoption, roots, containers and classes, in any nesting, beside kill -9, and where a part of it is committed by
 * waiting. What it has locked stays locked.
 */
class SavepointTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);
    private static final int TRANSACTIONS = Integer.getInteger("sas.nested", 150);
    private static final int ROUNDS = Integer.getInteger("sas.rounds", 6);

    @TempDir
    Path directory;
    private Store store;
    private Account ann;

    @BeforeEach
    void open() {
        store = Store.create(directory.resolve("store"), Stores.SMALL.withLockTimeoutMillis(300));
        ann = Factory.newInstanceIn(Account.class, store.container(Store.MAIN), 1, "ann");
        store.setRoot("ann", ann);
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    private static void undone(Runnable action) {
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            action.run();
            throw new IllegalStateException("undone");
        }));
    }

    @Test
    void aNestedRunThatThrowsIsTakenBackAlone() {
        Transaction.run(() -> {
            ann.add(1);
            undone(() -> {
                ann.add(10);
                ann.rename("somebody else with a longer name");
                assertEquals(11, ann.balance());
            });
            assertEquals(1, ann.balance());
            assertEquals("ann", ann.owner());
            ann.add(100);
            Transaction.run(() -> ann.add(1000));
            undone(() -> {
                Transaction.run(() -> ann.add(10000));
                undone(() -> ann.add(100000));
                assertEquals(11101, ann.balance());
            });
            ann.link(ann);
        });
        assertEquals(1101, ann.balance());
        assertEquals("ann", ann.owner());
        assertTrue(ann.next() == ann);
    }

    @Test
    void whatANestedRunMadeIsGoneAndWhatItDestroyedIsBack() {
        Account[] made = new Account[1];
        Invoice[] invoice = new Invoice[1];
        Transaction.run(() -> {
            undone(() -> {
                made[0] = Factory.newInstanceNear(Account.class, ann, 2, "bob");
                made[0].link(ann);
                ann.link(made[0]);
                store.setRoot("bob", made[0]);
                store.createContainer("other", 1 << 20);
                invoice[0] = Factory.newInstanceNear(Invoice.class, ann, 5L);
            });
            assertNull(ann.next());
            assertNull(store.root("bob", Account.class));
            assertFalse(store.containers().contains("other"));
            assertThrows(ObjectDestroyed.class, made[0]::balance);
            assertThrows(ObjectDestroyed.class, invoice[0]::total);
            // Their storage, container and class number are given out again.
            store.createContainer("another", 1 << 21);
            Factory.newInstanceNear(Invoice.Reminder.class, ann);
            made[0] = Factory.newInstanceIn(Account.class, store.container("another"), 2, "bob");
            ann.link(made[0]);
            undone(() -> {
                store.setRoot("ann", null);
                Factory.destroyInstance(ann);
                assertThrows(ObjectDestroyed.class, ann::balance);
            });
            assertEquals(0, ann.balance());
            ann.add(3);
        });
        assertEquals(3, store.root("ann", Account.class).balance());
        assertTrue(ann.next() == made[0]);
        invoice[0] = Factory.newInstanceNear(Invoice.class, ann, 6L);
        assertEquals(6, invoice[0].total());
    }

    /**
     * The addresses of a container whose making was undone are given out again: this JVM is not to look for objects
     * where they were in that one.
     */
    @Test
    void anotherJvmsContainerTakesTheAddressesOfOneThatWasUndone() throws Exception {
        for (int i = 0; i < 2; i++) {
            Transaction.begin();
            Runnable create =
                    () -> Factory.newInstanceIn(Account.class, store.createContainer("other", 1 << 20), 2, "bob");
            if (i == 0) {
                undone(create);
                Transaction.commit();
            } else {
                create.run();
                Transaction.abort();
            }
        }
        assertEquals(0, Stores.start(ContainerProgram.class, directory.resolve("store")).waitFor());
        Account eve = store.root("eve", Account.class);
        assertEquals("eve", eve.owner());
        assertEquals(64 << 20, Factory.getInstanceContainer(eve).bytesMax());
        eve.add(1);
    }

    /** Another thread does not get what a nested run had, before the end of the transaction. */
    @Test
    void locksStay() throws Exception {
        Transaction.begin();
        undone(() -> ann.add(1));
        Thread other = Thread.ofPlatform().start(() -> {
            Transaction.begin();
            assertThrows(TransactionConflict.class, () -> ann.add(5));
            Transaction.abort();
        });
        other.join();
        Transaction.commit();
        assertEquals(0, ann.balance());
        Transaction.run(() -> ann.add(5));
        assertEquals(5, ann.balance());
    }

    /**
     * Of nested runs that follow each other, as of a program whose methods are transactions each, the stream keeps one
     * image for each object.
     */
    @Test
    void manyNestedRunsTakeNoMoreUndoThanOne() {
        Account bob = Factory.newInstanceNear(Account.class, ann, 2, "bob");
        Transaction.run(() -> {
            for (int i = 0; i < 100; i++) {
                Transaction.run(() -> ann.add(1));
            }
            long before = dev.norn.sas.runtime.Session.get().transaction().mark();
            for (int i = 0; i < 10_000; i++) {
                Transaction.run(() -> {
                    ann.add(1);
                    undone(() -> ann.add(1));
                });
            }
            assertEquals(before, dev.norn.sas.runtime.Session.get().transaction().mark());
            bob.add(1);
        });
        assertEquals(10_100, ann.balance());
    }

    @Test
    void whatWasCommittedToWaitStaysAndTheRestIsTakenBack() {
        Transaction.run(() -> {
            ann.add(1);
            undone(() -> {
                ann.add(10);
                synchronized (ann) {
                    try {
                        ann.wait(1);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
                ann.add(100);
                undone(() -> ann.add(1000));
                assertEquals(111, ann.balance());
            });
            assertEquals(11, ann.balance());
            ann.add(5);
        });
        assertEquals(16, ann.balance());
    }

    @Test
    void aTransactionThatANestedRunEndsIsNotTakenBack() {
        Transaction.begin();
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            ann.add(1);
            Transaction.commit();
            throw new IllegalStateException();
        }));
        assertFalse(Transaction.isActive());
        assertEquals(1, ann.balance());
    }

    @Test
    void javaArraysAreAsTheyWere() {
        Shelf shelf = Factory.newInstanceIn(Shelf.class, store.container(Store.MAIN), "shelf");
        shelf.numbers = Factory.newIntArrayNear(3, shelf);
        shelf.names = Factory.newArrayOfNear(String.class, 3, shelf);
        Transaction.run(() -> {
            int[] numbers = shelf.numbers;
            numbers[0] = 1;
            undone(() -> {
                numbers[0] = 2;
                java.util.Arrays.fill(shelf.names, "a name that is not short");
                shelf.numbers = Factory.newIntArrayNear(9, shelf);
                shelf.numbers[8] = 1;
            });
            assertTrue(numbers == shelf.numbers);
            assertArrayEquals(new int[] {1, 0, 0}, shelf.numbers);
            shelf.names[1] = "second";
        });
        assertArrayEquals(new int[] {1, 0, 0}, shelf.numbers);
        assertArrayEquals(new String[] {null, "second", null}, shelf.names);
    }

    @Test
    void randomNestedRunsAreAsInAModel() {
        store.close();
        for (long seed = SEED; seed < SEED + 3; seed++) {
            Path at = directory.resolve("random" + seed);
            store = NestedRuns.create(at);
            NestedRuns runs = new NestedRuns(seed, store);
            for (int i = 0; i < TRANSACTIONS; i++) {
                runs.transaction(i);
                runs.verify();
            }
            Stores.check(store);
            store.close();
            store = NestedRuns.open(Stores.withoutPool(at, directory.resolve("copy" + seed)));
            runs = new NestedRuns(seed, store);
            runs.replay(TRANSACTIONS);
            runs.verify();
            if (seed < SEED + 2) {
                store.close();
            }
        }
    }

    @Test
    void whatAKilledJvmHadTakenBackIsNotThere() throws Exception {
        store.close();
        Path at = directory.resolve("killed");
        store = NestedRuns.create(at);
        Random random = new Random(SEED);
        for (int round = 0; round < ROUNDS; round++) {
            store.close();
            Process child = Stores.start(NestedRuns.class, at, SEED);
            long said = 0;
            try (var lines = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
                said = Long.parseLong(lines.readLine());
                Thread.sleep(random.nextInt(300));
                child.toHandle().destroyForcibly();
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    said = Long.parseLong(line);
                }
                child.waitFor();
            }
            if (round % 3 == 2) {
                at = Stores.withoutPool(at, directory.resolve("killed" + round));
            }
            store = NestedRuns.open(at);
            Stores.check(store);
            long now = store.root("nest", Nest.class).transactions;
            assertTrue(now == said || now == said + 1, now + " transactions after " + said
                    + " were said to be committed, in round " + round + " of seed " + SEED);
            NestedRuns runs = new NestedRuns(SEED, store);
            runs.replay(now);
            runs.verify();
        }
    }
}
