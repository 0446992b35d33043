package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.TransactionConflict;
import dev.norn.sas.store.Audit;
import dev.norn.sas.store.Generations;
import dev.norn.sas.store.PageWords;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What making many objects looks at in descriptors of pages, instead of at objects: it says the same as these would,
 * and is left behind by nobody.
 */
class LoadingTest {
    @TempDir
    Path directory;
    private Store store;
    private Account page;

    @BeforeEach
    void open() {
        store = Store.create(directory.resolve("store"), Stores.SMALL.withLockTimeoutMillis(300));
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

    private void assertNobodyAllocates() {
        assertEquals(0, PageWords.allocating(store, page));
    }

    @Test
    void aPageSaysWhoMakesObjectsThereUntilTheTransactionEnds() {
        assertNobodyAllocates();
        Transaction.begin();
        newAccount();
        assertEquals(1, Long.bitCount(PageWords.allocating(store, page)));
        Transaction.commit();
        assertNobodyAllocates();
        Transaction.begin();
        newAccount();
        Transaction.abort();
        assertNobodyAllocates();
    }

    @Test
    void whatIsTakenBackInTheMiddleIsForgottenAtTheEnd() {
        Transaction.run(() -> {
            assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
                newAccount();
                throw new IllegalStateException();
            }));
            assertNotEquals(0, PageWords.allocating(store, page), "the transaction may make more");
        });
        assertNobodyAllocates();
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
                newAccount();
                throw new IllegalStateException();
            }));
            throw new IllegalStateException();
        }));
        assertNobodyAllocates();
    }

    @Test
    void theCheckerFindsWhoIsSaidToMakeObjectsAndDoesNot() {
        PageWords.setAllocating(store, page, PageWords.otherSlot());
        assertEquals(1, new Audit(store.pool()).run().size());
        PageWords.setAllocating(store, page, 0);
    }

    /** A word in the object that would make whoever looks at it wait shows who does. */
    @Test
    void theObjectItselfIsLookedAtOnlyWhereItsPageDoesNotSuffice() {
        Account target = newAccount();
        Account other = newAccount();
        Account owner = Factory.newInstanceIn(Account.class, store.container(Store.MAIN), 3, "Cid");
        long word = PageWords.lockAsNew(target);
        owner.link(target);
        PageWords.setAllocating(store, target, PageWords.otherSlot());
        assertThrows(TransactionConflict.class, () -> storeOnce(owner, target), "somebody makes objects on the page, perhaps this one");
        PageWords.setAllocating(store, target, 0);
        Factory.destroyInstance(other);
        assertThrows(TransactionConflict.class, () -> storeOnce(owner, target), "something was freed on the page, perhaps this one");
        PageWords.restoreLock(target, word);
        storeOnce(owner, target);
        assertEquals(2, owner.next().number());
    }

    /** Without another attempt. */
    private static void storeOnce(Account owner, Account target) {
        Transaction.begin();
        try {
            owner.link(target);
            Transaction.commit();
        } finally {
            if (Transaction.isActive()) {
                Transaction.abort();
            }
        }
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
        assertTrue(isBeside(newAccount()), "the place is used again");
    }

    private boolean isBeside(Account other) {
        return Generations.isOnSamePage(Generations.reference(other), Generations.reference(page));
    }
}
