package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.util.SasByteArray;
import dev.norn.sas.util.SasList;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a transaction does when a step of it fails in the middle, for want of undo, of stack or of memory: its own
 * thread gets the error, the transaction can be undone, or continues without that step, and no other thread waits.
 */
@Timeout(300)
class FailedStepTest {
    private static final long STACK_BYTES = 400 << 10;
    private static final int STEP_FRAMES = Integer.getInteger("sas.frames", 7);
    private static final int SLACK_FRAMES = 500;
    private static final int SWEEPS = 3;

    @TempDir
    Path directory;
    private Store store;
    private Link root;

    @BeforeEach
    void open() {
        Store.create(directory.resolve("store"), Store.Options.defaults().withLockTimeoutMillis(1000)).close();
        store = Store.open(directory.resolve("store"), SubObjects.ADOPT);
        root = Factory.newInstanceIn(Link.class, store.container(Store.MAIN), 0, null);
        store.setRoot("root", root);
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    private static void elsewhere(Runnable action) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                action.run();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (thrown.get() != null) {
            throw new AssertionError(thrown.get());
        }
    }

    @Test
    void aTransactionBeyondTheUndoLimitIsRefusedInItsOwnThread() {
        List<SasByteArray> arrays = new ArrayList<>();
        for (int i = 0; i < 34; i++) {
            arrays.add(Factory.newInstanceNear(SasByteArray.class, root, 8_000_000));
        }
        var thrown = assertThrows(SASException.class, () -> Transaction.run(() -> {
            root.number = 1;
            arrays.forEach(array -> array.fill(0, array.length(), (byte) 1));
        }));
        assertTrue(thrown.getMessage().contains("268435456 bytes") && thrown.getMessage().contains("split it"),
                thrown.getMessage());
        assertFalse(Transaction.isActive());
        elsewhere(() -> {
            root.number = 2;
            arrays.forEach(array -> array.set(0, (byte) 2));
        });
        arrays.forEach(array -> assertEquals(0, array.get(1)));
        // Who catches it may commit what went before: the rest of the step is not there. What is stored is what was
        // there, so that the log is short.
        Transaction.begin();
        root.number = 3;
        assertThrows(SASException.class, () -> arrays.forEach(array -> array.fill(1, array.length(), (byte) 0)));
        assertThrows(SASException.class, () -> root.next = Link.chain(1_000_000));
        Transaction.commit();
        assertEquals(3, root.number);
        assertEquals(null, root.next);
        arrays.forEach(array -> assertTrue(array.get(0) == 2 && array.get(1) == 0));
    }

    /** What is done at the end of the stack. */
    private interface Deed {
        /** Whether it is done, as seen from another thread: all of it. Throws {@link AssertionError} if a part is. */
        boolean isDone(int before);

        void run(int before);
    }

    private static int down(int frames, Runnable action) {
        if (frames == 0) {
            action.run();
            return 0;
        }
        return down(frames - 1, action) + 1;
    }

    /**
     * Runs the deed with less and less of the stack in use, from where it overflows at once to where it goes through;
     * returns how many times it overflowed.
     */
    private int sweep(Deed deed) throws InterruptedException {
        int[] overflows = new int[1];
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(null, () -> {
            try {
                // How deep it goes changes while code is compiled, so it is looked for more than once.
                for (int sweeps = 0; sweeps < SWEEPS; sweeps++) {
                    for (int frames = deepest() + SLACK_FRAMES; frames > 0 && !attempt(deed, frames, overflows);
                            frames -= STEP_FRAMES) {
                        // A bit less deep.
                    }
                }
            } catch (Throwable e) {
                thrown.set(e);
            }
        }, "sweep", STACK_BYTES);
        thread.start();
        thread.join();
        if (thrown.get() != null) {
            throw new AssertionError("after " + overflows[0] + " overflows: " + thrown.get(), thrown.get());
        }
        return overflows[0];
    }

    /** Loads what the deed, and its undoing, uses: the JVM loads no class where the stack ends. */
    private static void warm(Deed deed) {
        assertThrows(StackOverflowError.class, () -> Transaction.run(() -> {
            deed.run(0);
            throw new StackOverflowError("as a program throws it");
        }));
        deed.run(0);
    }

    private static int deepest() {
        for (int warm = 0; warm < 50_000; warm++) {
            down(20, () -> {});
        }
        int low = 0;
        for (int step = 1 << 16; step > 0; step /= 2) {
            try {
                down(low + step, () -> {});
                low += step;
            } catch (StackOverflowError e) {
                // Not so deep.
            }
        }
        return low;
    }

    /** Whether the deed went through; counts it if it overflowed after its beginning. */
    private boolean attempt(Deed deed, int frames, int[] overflows) {
        int before = root.number;
        boolean isThrough = true;
        boolean[] isBegun = new boolean[1];
        try {
            down(frames, () -> {
                isBegun[0] = true;
                deed.run(before);
            });
        } catch (StackOverflowError e) {
            isThrough = false;
            overflows[0] += isBegun[0] ? 1 : 0;
            if (!isBegun[0]) {
                return false;
            }
        } catch (SASException e) {
            // It ended where a nested run was taken back: the whole transaction is undone then.
            assertTrue(e.getMessage().startsWith("the transaction was undone")
                    && e.getCause() instanceof StackOverflowError, e.toString());
            isThrough = false;
            overflows[0]++;
        } catch (NoClassDefFoundError | ExceptionInInitializerError e) {
            throw new AssertionError("a class was not initialized before: " + e, e);
        }
        if (Transaction.isActive()) {
            Transaction.abort();
        }
        boolean its = isThrough;
        // A sync may have been done when the stack was at its end.
        elsewhere(() -> {
            boolean isDone = deed.isDone(before);
            assertTrue(isDone || !its, "went through, but is not there");
            root.number++;
        });
        return isThrough;
    }

    @Test
    void aStoreAtTheEndOfTheStack() throws Exception {
        Deed deed = new Deed() {
            @Override
            public void run(int before) {
                root.number = before + 100;
            }

            @Override
            public boolean isDone(int before) {
                assertTrue(root.number == before || root.number == before + 100, root.number + " after " + before);
                return root.number != before;
            }
        };
        warm(deed);
        assertTrue(sweep(deed) > 5);
    }

    @Test
    void aTransactionWithAllKindsOfStepsAtTheEndOfTheStack() throws Exception {
        SasList<String> list = new SasList<>();
        root.other = list;
        @SuppressWarnings("unchecked")
        SasList<String> persistent = (SasList<String>) root.other;
        root.array = new Object[2];
        Deed deed = new Deed() {
            @Override
            public void run(int before) {
                Transaction.run(() -> {
                    root.number = before + 100;
                    root.text = "text number " + (before + 100);
                    root.array[1] = before + 100;
                    Link fresh = Link.chain(3);
                    root.next = fresh;
                    persistent.add("element");
                    try {
                        Transaction.run(() -> {
                            root.text = "taken back";
                            persistent.clear();
                            Factory.destroyInstance(fresh);
                            throw new IllegalStateException();
                        });
                    } catch (IllegalStateException e) {
                        fresh.number = before + 100;
                    }
                });
            }

            @Override
            public boolean isDone(int before) {
                return Transaction.call(() -> {
                    boolean isDone = root.number == before + 100;
                    assertTrue(isDone || root.number == before, root.number + " after " + before);
                    if (isDone) {
                        assertEquals("text number " + root.number, root.text);
                        assertEquals(root.number, root.array[1]);
                        assertEquals(root.number, root.next.number);
                        assertEquals("the text of link 2", root.next.next.next.text);
                    }
                    assertEquals(isDone, persistent.size() > sizeBefore[0]);
                    sizeBefore[0] = persistent.size();
                    return isDone;
                });
            }

            private final int[] sizeBefore = new int[1];
        };
        warm(deed);
        deed.isDone(0);
        assertTrue(sweep(deed) > 5);
    }
}
