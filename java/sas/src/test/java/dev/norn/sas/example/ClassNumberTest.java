package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.transaction.Directory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The number of a class belongs to the transaction that makes the class's first instance, until that is durable: a
 * transaction that commits an instance while the first transaction may still be undone has it back as what it is,
 * although the number is given out again.
 */
class ClassNumberTest {
    @TempDir
    Path directory;
    private Store store;
    private Shelf shelf;

    @BeforeEach
    void open() {
        store = Store.create(directory.resolve("store"), Stores.SMALL);
        shelf = Factory.newInstanceIn(Shelf.class, store.container(Store.MAIN), "shelf");
        store.setRoot("shelf", shelf);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Invoice invoice(long total) {
        return Factory.newInstanceNear(Invoice.class, shelf, total);
    }

    /** Starts a thread that commits an invoice, and waits until it has, or has to wait. */
    private Thread committing() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Thread thread = Thread.ofPlatform().start(() -> {
            Transaction.run(() -> shelf.any = invoice(8));
            done.countDown();
        });
        done.await(200, TimeUnit.MILLISECONDS);
        return thread;
    }

    /**
     * Gives the number out again, if it was not kept, and looks at the store as it would be found after the machine
     * stopped.
     */
    private void verify() {
        Invoice.Reminder reminder = Factory.newInstanceIn(Invoice.Reminder.class, store.container(Store.MAIN));
        store.setRoot("reminder", reminder);
        Stores.check(store);
        Path copy = Stores.withoutPool(directory.resolve("store"), directory.resolve("copy"));
        store.close();
        store = Store.open(copy);
        Object stored = store.root("shelf", Shelf.class).any;
        assertEquals(8, assertInstanceOf(Invoice.class, stored).total());
        assertInstanceOf(Invoice.Reminder.class, store.root("reminder", Object.class));
        Stores.check(store);
    }

    @Test
    void aNumberIsNotUsedBeforeItsMakerHasCommitted() throws Exception {
        Transaction.begin();
        invoice(7);
        Thread other = committing();
        Transaction.abort();
        other.join();
        verify();
    }

    /** The maker reads its own object through a new handle, which asks for the class by its number. */
    @Test
    void readingAnObjectByItsNumberDoesNotGiveTheNumberAway() throws Exception {
        Shelf other = Factory.newInstanceIn(Shelf.class, store.container(Store.MAIN), "other");
        Transaction.begin();
        Invoice first = invoice(7);
        other.any = first;
        first.setLine(other);
        assertEquals(7, assertInstanceOf(Invoice.class, ((Shelf) first.line()).any).total());
        // Reads what is not committed, sees that, and waits.
        Thread reader = Thread.ofPlatform().start(() -> assertEquals(null, other.any));
        Thread committer = committing();
        Transaction.abort();
        reader.join();
        committer.join();
        verify();
    }

    @Test
    void aKilledMakersNumberIsGivenOutAgain() throws Exception {
        Process child = Stores.start(InvoiceProgram.class, directory.resolve("store"));
        assertEquals("made", child.inputReader().readLine());
        Thread other = committing();
        child.destroyForcibly().waitFor();
        other.join();
        verify();
    }

    @Test
    void aNumberThatWasMadeIsUsedByAllOthers() throws Exception {
        Transaction.begin();
        invoice(7);
        Thread other = committing();
        Transaction.commit();
        other.join();
        verify();
        assertEquals(1, Directory.classes(store.attached()).stream()
                .filter(entry -> entry.name().equals(Invoice.class.getName())).count());
    }

    /**
     * More threads than a store has places for transactions make the first instances at once: none waits for a place of
     * its own beside the one that it has.
     */
    @Test
    void firstInstancesInAllPlacesAtOnce() throws Exception {
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 60; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                try {
                    Transaction.run(() -> {
                        assertEquals("shelf", store.root("shelf", Shelf.class).text);
                        invoice(1);
                    });
                } catch (Throwable e) {
                    thrown.add(e);
                }
            }));
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join(60_000);
            assertEquals(Thread.State.TERMINATED, thread.getState());
        }
        assertEquals(List.of(), List.copyOf(thrown));
        Transaction.run(() -> shelf.any = invoice(8));
        verify();
    }
}
