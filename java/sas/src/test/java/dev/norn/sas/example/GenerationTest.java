package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.store.inspect.Inspection;
import dev.norn.sas.store.transaction.Generations;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A dangling reference throws ObjectDestroyed whatever came into its place: no page gives a generation out twice, also
 * across aborts, the death of a process, and a machine's stop; what is durable names only what was durably allocated;
 * and data that looks like an object is not taken for one.
 */
class GenerationTest {
    @TempDir
    Path directory;
    private Store store;
    private Account page;
    /** What the page is full of, in the order of its places. */
    private final List<Account> beside = new ArrayList<>();

    @BeforeEach
    void open() {
        store = Store.create(directory.resolve("store"), Stores.SMALL);
        page = newAccount(1);
        store.setRoot("page", page);
        for (Account next = newAccount(0); isBeside(next); next = newAccount(0)) {
            beside.add(next);
        }
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Account newAccount(int number) {
        return page == null ? Factory.newInstanceIn(Account.class, store.container("main"), number, "Ann")
                : Factory.newInstanceNear(Account.class, page, number, "Ann");
    }

    private long reference() {
        return Generations.reference(page);
    }

    private boolean isBeside(Account other) {
        return Generations.isOnSamePage(Generations.reference(other), reference());
    }

    /** Everything committed so far, as the machine's stop leaves it. */
    private void stopMachine(String name) {
        Path copy = Stores.withoutPool(directory.resolve("store"), directory.resolve(name));
        store.close();
        store = Store.open(copy);
        page = store.root("page", Account.class);
    }

    @Test
    void aPageThatHasGivenOutAllGenerationsIsRetired() throws Exception {
        Generations.set(store, reference(), Generations.LAST - 1);
        Account before = beside.get(7);
        store.setRoot("before", before);
        Factory.destroyInstance(before);
        Account last = newAccount(3);
        store.setRoot("last", last);
        assertTrue(isBeside(last));
        assertEquals(Generations.offset(Generations.reference(before)), Generations.offset(Generations.reference(last)),
                "it has the place of the one before");
        assertThrows(ObjectDestroyed.class, before::balance);
        Factory.destroyInstance(last);
        assertTrue(Generations.isRetired(store, reference()));
        for (int i = 0; i < 300; i++) {
            assertFalse(isBeside(newAccount(i)), "nothing is allocated on a retired page");
        }
        assertThrows(ObjectDestroyed.class, last::balance);
        assertThrows(ObjectDestroyed.class, before::balance);
        page.add(5);
        page.rename("somebody with a longer name");
        assertEquals(5, page.balance(), "what lives there stays usable");
        assertTrue(Inspection.stat(store.attached()).contains("retired pages        1"),
                Inspection.stat(store.attached()).toString());
        stopMachine("stopped");
        assertTrue(Generations.isRetired(store, reference()), "the log has it");
        store.attached().checkpoint();
        Files.delete(directory.resolve("stopped/pool"));
        stopMachine("again");
        assertTrue(Generations.isRetired(store, reference()), "so has the container's file");
        for (int i = 0; i < 300; i++) {
            assertFalse(isBeside(newAccount(i)));
        }
        assertThrows(ObjectDestroyed.class, () -> store.root("last", Account.class));
        assertThrows(ObjectDestroyed.class, () -> store.root("before", Account.class));
        assertEquals(5, page.balance());
        Stores.check(store);
    }

    @Test
    void abortsAndDeathsUseGenerationsUp() throws Exception {
        Generations.set(store, reference(), Generations.LAST - 2);
        Factory.destroyInstance(beside.get(7));
        Account[] aborted = new Account[1];
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            aborted[0] = newAccount(2);
            throw new IllegalStateException();
        }));
        assertEquals(Generations.LAST, Generations.of(store, reference()));
        assertThrows(ObjectDestroyed.class, aborted[0]::balance);
        assertEquals(9, Stores.start(Dying.class, directory.resolve("store")).waitFor());
        store.close();
        store = Store.open(directory.resolve("store"));
        page = store.root("page", Account.class);
        assertTrue(Generations.isRetired(store, reference()),
                Generations.of(store, reference()) + " after two transactions that were undone");
        assertFalse(isBeside(newAccount(3)));
        Stores.check(store);
    }

    /** Allocates beside the page's account, and dies. */
    static final class Dying {
        public static void main(String[] arguments) {
            Store its = Store.open(Path.of(arguments[0]));
            Transaction.begin();
            Factory.newInstanceNear(Account.class, its.root("page", Account.class), 2, "Ann");
            Runtime.getRuntime().halt(9);
        }
    }

    @Test
    void aFreeThatIsDoneAgainLeavesWhatCameIntoThePlace() {
        Account gone = beside.get(7);
        Account[] fresh = new Account[1];
        Generations.freeTwice(store, gone, () -> fresh[0] = newAccount(70));
        assertEquals(Generations.offset(Generations.reference(gone)),
                Generations.offset(Generations.reference(fresh[0])));
        assertEquals(70, fresh[0].number());
        assertThrows(ObjectDestroyed.class, gone::number);
        Stores.check(store);
    }

    @Test
    void pagesOfLargeObjectsRetire() {
        Container small = store.createContainer("small", 8 << 12);
        Shelf shelf = Factory.newInstanceIn(Shelf.class, small, "with arrays");
        long reference = array(shelf);
        Generations.set(store, reference, Generations.LAST);
        Factory.destroyInstance(array);
        assertTrue(Generations.isRetired(store, reference));
        assertThrows(dev.norn.sas.exception.ContainerFull.class, () -> {
            for (int i = 0; i < 4; i++) {
                assertFalse(Generations.isOnSamePage(reference, array(shelf)), "its first page is retired");
            }
        });
        Stores.check(store);
    }

    private long[] array;

    /** Takes two of the container's seven pages that the shelf is not on. */
    private long array(Shelf shelf) {
        array = Factory.newLongArrayNear(600, shelf);
        return dev.norn.sas.runtime.ArrayCopies.referenceOfCopy(array);
    }

    @Test
    void dataThatLooksLikeTheObjectIsNotTakenForIt() {
        Account gone = beside.get(8);
        store.setRoot("gone", gone);
        long header = Generations.header(gone);
        Factory.destroyInstance(beside.get(7));
        Factory.destroyInstance(gone);
        Transaction.run(() -> {
            long[] cover = Factory.newLongArrayNear(9, page);
            java.util.Arrays.fill(cover, header);
        });
        assertEquals(header, Generations.header(gone), "the array lies where the object was");
        assertThrows(ObjectDestroyed.class, () -> store.root("gone", Account.class));
        assertThrows(ObjectDestroyed.class, gone::balance);
    }

    @Test
    void aReferenceToAnObjectThatIsGoneOrWasNeverCommittedIsNotStored() throws Exception {
        Account[] aborted = new Account[1];
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            aborted[0] = newAccount(2);
            throw new IllegalStateException();
        }));
        assertThrows(ObjectDestroyed.class, () -> page.link(aborted[0]));
        assertThrows(ObjectDestroyed.class, () -> store.setRoot("aborted", aborted[0]));
        Shelf shelf = Factory.newInstanceNear(Shelf.class, page, "with an array");
        Transaction.run(() -> shelf.shelves = Factory.newArrayOfNear(Shelf.class, 1, shelf));
        Shelf destroyed = Factory.newInstanceNear(Shelf.class, page, "destroyed");
        Factory.destroyInstance(destroyed);
        assertThrows(ObjectDestroyed.class, () -> Transaction.run(() -> shelf.shelves[0] = destroyed));
        AtomicReference<Account> leaked = new AtomicReference<>();
        CountDownLatch isStoring = new CountDownLatch(1);
        Thread maker = Thread.ofPlatform().start(() -> {
            Transaction.begin();
            leaked.set(newAccount(3));
            try {
                isStoring.await();
                Thread.sleep(50);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            Transaction.abort();
        });
        while (leaked.get() == null) {
            Thread.onSpinWait();
        }
        isStoring.countDown();
        long start = System.nanoTime();
        assertThrows(ObjectDestroyed.class, () -> page.link(leaked.get()),
                "the store waits for the one who made it, who aborts");
        assertTrue(System.nanoTime() - start < 5_000_000_000L, "not until the lock's timeout");
        maker.join();
        assertEquals(null, page.next());
        Stores.check(store);
    }

    @Test
    void addressesOfAContainerThatWasUndoneAreGivenOutWithNewGenerations() {
        Account[] undone = new Account[1];
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            undone[0] = Factory.newInstanceIn(Account.class, store.createContainer("undone", 1 << 20), 2, "Ann");
            throw new IllegalStateException();
        }));
        Account there =
                Factory.newInstanceIn(Account.class, store.createContainer("other", 1 << 20), 3, "somebody else");
        assertEquals(Generations.offset(Generations.reference(undone[0])),
                Generations.offset(Generations.reference(there)));
        assertEquals(3, there.number());
        assertThrows(ObjectDestroyed.class, undone[0]::number);
        Stores.check(store);
    }
}
