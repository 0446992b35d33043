package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.Generations;
import dev.norn.sas.store.transaction.PageWords;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What making many objects looks at in descriptors of pages, instead of at objects: it says what these would. */
class LoadingTest {
    @TempDir
    Path directory;
    private Store store;
    private Account page;

    @BeforeEach
    void open() {
        store = Store.create(directory.resolve("store"), Stores.SMALL);
        page = Factory.newInstanceIn(Account.class, store.container(Store.MAIN), 1, "Ann");
        store.setRoot("page", page);
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    private Account newAccount() {
        return Factory.newInstanceNear(Account.class, page, 2, "Bob");
    }

    @Test
    void aPageWithoutRoomIsNotSearchedAgainUntilSomethingIsFreedThere() {
        List<Account> beside = new ArrayList<>();
        for (Account next = newAccount(); isBeside(next); next = newAccount()) {
            beside.add(next);
        }
        assertNotEquals(0, PageWords.lacks(store, page), "it is known that there is no room");
        assertTrue(!isBeside(newAccount()));
        Factory.destroyInstance(beside.get(3));
        assertEquals(0, PageWords.lacks(store, page));
        PageWords.setLacks(store, page, 1);
        assertTrue(!isBeside(newAccount()), "what the page says is believed");
        PageWords.setLacks(store, page, 0);
        assertTrue(isBeside(newAccount()), "the place is used again");
    }

    @Test
    void aDestroyedObjectOfALargeTransactionIsNotReferredTo() {
        List<Account> many = Transaction.call(this::newAccounts);
        Account ann = many.get(0);
        ann.link(many.get(1));
        Factory.destroyInstance(many.get(1));
        assertThrows(ObjectDestroyed.class, () -> ann.link(many.get(1)));
        ann.link(many.get(2));
        assertEquals(2, ann.next().number(), "what is beside it is there");
        Account another = newAccount();
        ann.link(another);
        assertThrows(ObjectDestroyed.class, () -> ann.link(many.get(1)), "the place was given out again");
    }

    @Test
    void anObjectOfALargeTransactionThatWasUndoneIsNotReferredTo() {
        Transaction.begin();
        List<Account> undone = newAccounts();
        Transaction.abort();
        assertThrows(ObjectDestroyed.class, () -> page.link(undone.get(1)));
        List<Account> many = Transaction.call(this::newAccounts);
        assertThrows(ObjectDestroyed.class, () -> many.get(0).link(undone.get(1)), "the places were given out again");
    }

    @Test
    void anObjectThatIsKnownToBeCommittedIsNotLookedAt() {
        List<Account> many = Transaction.call(this::newAccounts);
        Account ann = many.get(0);
        long lock = Format.offsetOf(Generations.reference(many.get(1))) + Format.OBJECT_LOCK;
        long before = Memory.getLong(lock);
        // As if another transaction had just made it, which would be waited for.
        Memory.putLong(lock, Format.LOCK_EXCLUSIVE | 1L << Format.SLOTS_MAX - 1);
        ann.link(many.get(1));
        Memory.putLong(lock, before);
        assertEquals(2, ann.next().number());
    }

    private List<Account> newAccounts() {
        return Stream.generate(this::newAccount).limit(200).toList();
    }

    private boolean isBeside(Account other) {
        return Generations.isOnSamePage(Generations.reference(other), Generations.reference(page));
    }
}
