package dev.norn.sas.example;

import static dev.norn.sas.store.memory.Format.offsetOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.heap.DirectoryFormat;
import dev.norn.sas.store.heap.RangeTable;
import dev.norn.sas.store.transaction.Cuts;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Deaths in the middle of undoing, at each step: of a transaction that has created a container, of a run inside one, of
 * a store's creation, and of what recovers them. A process that comes afterwards knows no container but the first, and
 * finds the others by the directory, which is among what is being undone. A store was lost so until its pool was
 * removed, when the directory named an entry that had been freed already.
 */
class UndoTest {
    static final Store.Options OPTIONS = Stores.SMALL.withLockTimeoutMillis(500);
    private static final int PLACES_MAX = 60;

    @TempDir
    Path directory;
    private Path cuts;
    private Path at;

    @BeforeEach
    void write() throws IOException {
        cuts = Cuts.write(directory.resolve("cuts"));
        at = directory.resolve("store");
    }

    /** Runs it; returns whether it has died. */
    private boolean dies(Object... arguments) throws Exception {
        ProcessBuilder builder = Stores.builder(List.of(), UndoProgram.class, arguments);
        List<String> command = new ArrayList<>(builder.command());
        int path = command.indexOf("-cp") + 1;
        command.set(path, cuts + File.pathSeparator + command.get(path));
        Process child = builder.command(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        int status = child.waitFor();
        assertTrue(status == 0 || status == 9, "status " + status + " of " + List.of(arguments));
        return status == 9;
    }

    private void verify(String when) {
        try (Store store = Store.open(at)) {
            Stores.check(store);
            assertEquals(Set.of("ann", "bob"), new TreeSet<>(store.roots()), when);
            assertEquals(Set.of("main"), withoutSystem(store), when);
            assertEquals(List.of(0L, 0L), Transaction.call(() -> List.of(balance(store, "ann"), balance(store, "bob"))),
                    when);
        } catch (RuntimeException e) {
            throw new AssertionError(when, e);
        }
    }

    private static long balance(Store store, String name) {
        return store.root(name, Account.class).balance();
    }

    private static Set<String> withoutSystem(Store store) {
        Set<String> names = new TreeSet<>(store.containers());
        names.remove("system");
        return names;
    }

    /** Each death beside an open transaction at every second place; recovery dies, too, at one of its first places. */
    private void dieEverywhere(String what) throws Exception {
        Stores.createWithAccounts(at, OPTIONS).close();
        int nth = 1;
        for (boolean hasDied = true; hasDied; nth++) {
            hasDied = nth % 2 == 0 ? dies(at, what, nth) : dies(at, what, nth, "beside");
            boolean again = nth % 3 == 0 && dies(at, "recover", nth / 3);
            verify("after a death at place " + nth + (again ? ", and of recovery" : ""));
            assertTrue(nth < PLACES_MAX, "it never ends");
        }
        assertTrue(nth > 10, "only " + nth + " places");
    }

    @Test
    void aDeathInTheUndoOfATransactionLeavesAStoreThatOpens() throws Exception {
        dieEverywhere("whole");
    }

    @Test
    void aDeathInTheUndoOfANestedRunLeavesAStoreThatOpens() throws Exception {
        dieEverywhere("nested");
    }

    @Test
    void aCreationThatDiedBeforeItsFirstCommitIsUndoneWhereverThatDies() throws Exception {
        for (int nth = 0; nth < 8; nth++) {
            at = directory.resolve("store " + nth);
            assertTrue(dies(at, "create", 1));
            if (nth > 0) {
                dies(at, "recover", nth);
            }
            Store.open(at).close();
        }
    }

    /** Asking the directory would be to ask where the directory is. */
    @Test
    void whereTheDirectoryIsUnknownNothingIsFoundInItsContainer() {
        try (Store store = Stores.createWithAccounts(at, OPTIONS)) {
            RangeTable unknown = new RangeTable(store.attached().pages(), reference -> {});
            assertNull(unknown.find(offsetOf(DirectoryFormat.DIRECTORY)));
            assertFalse(unknown.isObject(DirectoryFormat.DIRECTORY));
        }
    }
}
