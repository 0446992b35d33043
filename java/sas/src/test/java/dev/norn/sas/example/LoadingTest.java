package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.store.transaction.Generations;
import dev.norn.sas.store.transaction.PageWords;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What making many objects looks at in descriptors of pages, instead of at objects: it says the same as these would. */
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

    private boolean isBeside(Account other) {
        return Generations.isOnSamePage(Generations.reference(other), Generations.reference(page));
    }
}
