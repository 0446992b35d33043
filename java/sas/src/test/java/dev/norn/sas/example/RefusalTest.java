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
        for (var each : Map.<Executable, String>of(
                () -> Factory.newInstanceIn(Runnable.class, container), "class of the JDK",
                () -> Factory.newInstanceIn(Deed.class, container), "it is an interface",
                () -> Factory.newInstanceIn("no.such.Type", container), "there is no class no.such.Type").entrySet()) {
            var thrown = assertThrows(SASException.class, each.getKey());
            assertTrue(thrown.getMessage().contains(each.getValue()), thrown.getMessage());
        }
    }

    private interface Deed {}

    private static void assertNull(String what, Executable call) {
        assertEquals(what + " null", assertThrows(NullPointerException.class, call).getMessage());
    }

    @Test
    void nullArgumentsAreNamed() {
        Account ann = Factory.newInstanceIn(Account.class, store.container(Store.MAIN), 1, "Ann");
        assertNull("the directory is", () -> Store.open(null));
        assertNull("the directory is", () -> Store.create(null, Stores.SMALL));
        assertNull("the options are", () -> Store.create(directory, null));
        assertNull("the root's name is", () -> store.setRoot(null, ann));
        assertNull("the root's name is", () -> store.root(null, Account.class));
        assertNull("the root's class is", () -> store.root("ann", null));
        assertNull("the container's name is", () -> store.createContainer(null, 1 << 20));
        assertNull("the container's name is", () -> store.container(null));
        assertNull("the action is", () -> Transaction.run(null));
        assertNull("the body is", () -> Transaction.call(null));
        assertNull("the class is", () -> Factory.newInstanceIn((Class<?>) null, store.container(Store.MAIN)));
    }

    @Test
    void mistakesAreCalledByWhatTheProgramWrote() {
        Account ann = Factory.newInstanceIn(Account.class, store.container(Store.MAIN), 1, "Ann");
        store.setRoot("ann", ann);
        assertEquals("the root ann is a " + Account.class.getName() + ", not a java.lang.String",
                assertThrows(ClassCastException.class, () -> store.root("ann", String.class)).getMessage());
        assertEquals("int[] is an array: create it with Factory.newIntArrayNear", assertThrows(SASException.class,
                () -> Factory.newInstanceNear(int[].class, ann, 3)).getMessage());
        assertEquals("java.lang.String[] is an array: create it with Factory.newArrayOfNear",
                assertThrows(SASException.class, () -> Factory.newInstanceNear(String[].class, ann, 3)).getMessage());
        assertEquals("the java.lang.String is a value, which is stored with the object that has it: give that object",
                assertThrows(SASException.class, () -> Factory.destroyInstance("x")).getMessage());
        assertEquals("a lock timeout of -1 ms is less than 0",
                assertThrows(SASException.class, () -> Store.create(directory.resolve("other"),
                        Stores.SMALL.withLockTimeoutMillis(-1))).getMessage());
    }
}
