package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Objects of ordinary classes in a store: what they hold, who they are, and what becomes of them in transactions and
 * across restarts.
 */
class ObjectsTest {
    @TempDir
    Path directory;
    private Store store;
    private Container main;

    @BeforeEach
    void open() {
        store = Store.create(directory, Store.Options.defaults().withLogBytes(1 << 20));
        main = store.container("main");
    }

    @AfterEach
    void close() {
        store.close();
    }

    private void reopen() {
        store.close();
        store = Store.open(directory);
        main = store.container("main");
    }

    private Account account(int number, String owner) {
        return Factory.newInstanceIn(Account.class, main, number, owner);
    }

    @Test
    void aNewObjectIsTemporaryAndAFactorysIsPersistent() {
        assertFalse(Factory.isPersistent(new Account(1, "ann")));
        Account ann = account(1, "ann");
        assertTrue(Factory.isPersistent(ann));
        assertEquals(1, ann.number());
        assertEquals("ann", ann.owner());
        assertEquals(main, Factory.getInstanceContainer(ann));
    }

    @Test
    void aRootIsFoundAfterARestart() {
        Account ann = account(1, "Ann with a name that is too long for a word");
        ann.add(70);
        store.setRoot("ann", ann);
        reopen();
        Account again = store.root("ann", Account.class);
        assertEquals(70, again.balance());
        assertEquals("Ann with a name that is too long for a word", again.owner());
        assertNull(store.root("bob", Account.class));
        assertEquals(java.util.List.of("ann"), store.roots());
    }

    /** What went wrong, and what to do. */
    private static void refused(Runnable use, String... parts) {
        String message = assertThrows(SASException.class, use::run).getMessage();
        for (String part : parts) {
            assertTrue(message.contains(part), part + " in " + message);
        }
    }

    @Test
    void whatCannotBeARootIsSaid() {
        refused(() -> store.setRoot("greeting", "hello"), "root greeting cannot be a java.lang.String",
                "name a persistent object that has it in a field");
        refused(() -> store.setRoot("numbers", new int[3]), "root numbers cannot be a int[]");
        refused(() -> store.setRoot("eve", new Account(3, "eve")),
                "root eve would be a temporary " + Account.class.getName(), "Factory.newInstanceIn");
        refused(() -> store.setRoot("random", new java.util.Random()),
                "instances of java.util.Random cannot be persistent");
        Account ann = account(1, "ann");
        store.setRoot("ann", ann);
        Factory.destroyInstance(ann);
        var thrown = assertThrows(ObjectDestroyed.class, () -> store.root("ann", Account.class));
        assertTrue(thrown.getMessage().startsWith("root ann: ")
                && thrown.getMessage().endsWith("setRoot(\"ann\", null) removes the name"), thrown.getMessage());
        store.setRoot("ann", null);
        assertNull(store.root("ann", Account.class));
    }

    @Test
    void aConstructorThatDoesNotFitIsSaid() {
        refused(() -> Factory.newInstanceIn(Account.class, main, "ann", null), "the arguments (java.lang.String, null)",
                "it has Account(int, java.lang.String)");
        refused(() -> Factory.newPermInstance(Account.class), "the arguments ()", "Account(int, java.lang.String)",
                "Factory.newInstanceIn(Account.class, container, ");
    }

    @Test
    void aNullReferenceIsNamedAsAnObject() {
        Account nobody = account(1, "ann").next();
        var thrown = assertThrows(NullPointerException.class, () -> new Peer(nobody).owner());
        assertTrue(thrown.getMessage().endsWith("because \"object\" is null"), thrown.getMessage());
    }

    private record Peer(Account account) {
        String owner() {
            Peer none = account == null ? null : this;
            return none.account.owner();
        }
    }

    @Test
    void aTransactionIsWholeOrNotAtAll() {
        Account ann = account(1, "ann");
        Account bob = account(2, "bob");
        Transaction.run(() -> {
            ann.add(100);
            bob.link(ann);
        });
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            ann.add(-30);
            bob.add(30);
            bob.rename("robert, who used to be bob");
            bob.link(null);
            throw new IllegalStateException("no");
        }));
        assertEquals(100, ann.balance());
        assertEquals(0, bob.balance());
        assertEquals("bob", bob.owner());
        assertTrue(bob.next() == ann);
        Transaction.run(() -> assertSame(bob.next(), bob.next(), "the handle is kept"));
    }

    @Test
    void identityIsTheAddress() {
        Account ann = account(1, "ann");
        store.setRoot("ann", ann);
        Account again = store.root("ann", Account.class);
        assertTrue(ann == again);
        assertEquals(ann, again);
        assertEquals(ann.hashCode(), again.hashCode());
        assertEquals(System.identityHashCode(ann), System.identityHashCode(again));
        assertFalse(ann == account(2, "bob"));
    }

    @Test
    void aDestroyedObjectThrows() {
        Account ann = account(1, "ann");
        Account bob = account(2, "bob");
        bob.link(ann);
        Transaction.begin();
        ann.add(1);
        Factory.destroyInstance(ann);
        assertThrows(ObjectDestroyed.class, ann::balance);
        Transaction.abort();
        assertEquals(0, ann.balance());
        Factory.destroyInstance(ann);
        assertThrows(ObjectDestroyed.class, ann::balance);
        assertThrows(ObjectDestroyed.class, () -> bob.next().balance());
        Account eve = account(3, "eve");
        assertThrows(ObjectDestroyed.class, ann::balance);
        assertEquals(3, eve.number());
    }

    @Test
    void whatAnAbortedTransactionCreatedIsGone() {
        Transaction.begin();
        Account ann = account(1, "ann");
        Transaction.abort();
        assertThrows(ObjectDestroyed.class, ann::balance);
        assertThrows(SASException.class, () -> store.setRoot("temporary", new Account(1, "x")));
    }

    private static int refuse(long balance) throws IOException {
        throw new IOException("no file for " + balance);
    }

    @Test
    void aCheckedExceptionUndoesTheTransactionAndPassesThrough() {
        Account ann = account(1, "ann");
        var thrown = assertThrows(IOException.class, () -> Transaction.run(() -> {
            ann.add(70);
            refuse(ann.balance());
        }));
        assertEquals("no file for 70", thrown.getMessage());
        assertThrows(IOException.class, () -> Transaction.call(() -> refuse(7)));
        assertEquals(0, ann.balance());
        assertFalse(Transaction.isActive());
        // These throw nothing that has to be declared.
        long balance = Transaction.call(ann::balance);
        Transaction.run(ann::balance);
        assertEquals(0, balance);
    }
}
