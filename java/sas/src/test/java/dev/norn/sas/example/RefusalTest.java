package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ContainerException;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.util.SasList;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** What is refused changes nothing, and the message says why it is refused. */
class RefusalTest {
    @TempDir
    Path directory;
    private Store store;

    @BeforeEach
    void open() {
        Store.create(directory.resolve("store"), Stores.SMALL).close();
        store = Store.open(directory.resolve("store"));
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    @Test
    void aContainerCannotHaveANameThatIsTooLongForAFile() {
        var thrown = assertThrows(ContainerException.class, () -> store.createContainer("n".repeat(201), 1 << 20));
        assertTrue(thrown.getMessage().contains("at most 200 characters"), thrown.getMessage());
        store.createContainer("n".repeat(200), 1 << 20);
        store.attached().checkpoint();
    }

    /** What a list refuses leaves it as it was, and the transaction may continue. */
    @Test
    void whatAListRefusesLeavesNothingInIt() {
        SasList<Object> list = Factory.newInstanceIn(SasList.class, store.container(Store.MAIN));
        Transaction.run(() -> {
            list.add("a");
            assertThrows(SASException.class, () -> list.add(new Thread()));
            assertThrows(SASException.class, () -> list.add(0, new Thread()));
        });
        assertEquals(List.of("a"), list);
        Account gone = Factory.newInstanceIn(Account.class, store.container(Store.MAIN), 1, "Ann");
        Transaction.run(() -> {
            list.add(gone);
            list.add("b");
            Factory.destroyInstance(gone);
        });
        Transaction.run(() -> {
            assertThrows(ObjectDestroyed.class, () -> list.add(0, "c"));
            assertThrows(ObjectDestroyed.class, () -> list.remove(0));
        });
        assertEquals(3, list.size());
        assertEquals("a", list.get(0));
        assertEquals("b", list.get(2));
        list.set(1, "c");
        assertEquals(List.of("a", "c", "b"), list);
    }

    @Test
    void aBodyThatEndsItsTransactionItselfIsTold() {
        Account ann = Factory.newInstanceIn(Account.class, store.container(Store.MAIN), 1, "Ann");
        var thrown = assertThrows(SASException.class, () -> Transaction.run(() -> {
            ann.add(1);
            Transaction.commit();
        }));
        assertTrue(thrown.getMessage().contains("has ended the transaction itself"), thrown.getMessage());
        assertEquals(1, ann.balance());
        assertThrows(SASException.class, () -> Transaction.run(() -> {
            Transaction.abort();
            Transaction.begin();
            ann.add(1);
        }));
        assertEquals(1, ann.balance());
    }

    @Test
    void whatCannotBeConstructedIsSaidWithItsReason() {
        var container = store.container(Store.MAIN);
        for (var each : Map.<Executable, String>of(() -> Factory.newInstanceIn(Runnable.class, container), "class of the JDK",
                () -> Factory.newInstanceIn(Deed.class, container), "it is an interface", () -> Factory.newInstanceIn("no.such.Type", container), "there is no class no.such.Type").entrySet()) {
            var thrown = assertThrows(SASException.class, each.getKey());
            assertTrue(thrown.getMessage().contains(each.getValue()), thrown.getMessage());
        }
    }

    private interface Deed {}
}
