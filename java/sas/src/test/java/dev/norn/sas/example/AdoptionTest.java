package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ContainerFull;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.TransactionConflict;
import dev.norn.sas.store.inspect.ClassCounts;
import dev.norn.sas.util.SasList;
import dev.norn.sas.util.SasLongArray;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Adoption takes what hangs on an object with it, however much that is, and does so as a whole: where some of it cannot
 * be persistent or does not fit, all of it is temporary as before, and nothing of it is in the store.
 */
class AdoptionTest {
    private static final int MILLION = 1_000_000;

    @TempDir
    Path directory;
    private Store store;
    private Link root;

    @BeforeEach
    void create() {
        store = Store.create(directory.resolve("store"), Stores.SMALL);
        store.setRoot("root", Factory.newInstanceIn(Link.class, store.container(Store.MAIN), -1, null));
        open(directory.resolve("store"), SubObjects.ADOPT);
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    private void open(Path at, SubObjects subObjects) {
        store.close();
        store = Store.open(at, subObjects);
        root = store.root("root", Link.class);
    }

    /** As another JVM, or this one after the machine stopped, sees it. */
    private void reopen() {
        open(Stores.withoutPool(directory.resolve("store"), directory.resolve("copy")), SubObjects.ADOPT);
    }

    @Test
    void aChainOfAMillion() {
        root.next = Link.chain(MILLION);
        Transaction.run(() -> Link.verify(root.next, MILLION));
        reopen();
        Transaction.run(() -> Link.verify(root.next, MILLION));
    }

    @Test
    void aChainThatGoesThroughArrays() {
        int length = MILLION / 10;
        Object[] inner = {"the innermost"};
        for (int i = 0; i < length; i++) {
            inner = new Object[] {inner, i};
        }
        root.array = inner;
        reopen();
        Transaction.run(() -> verifyArrays(root.array, length));
        verifyArrays(root.array, length);
    }

    private static void verifyArrays(Object[] outer, int length) {
        Object[] at = outer;
        for (int i = length - 1; i >= 0; i--) {
            assertEquals(i, at[1]);
            at = (Object[]) at[0];
        }
        assertEquals("the innermost", at[0]);
    }

    @Test
    void anArrayThatHasItself() {
        Object[] array = {null, 5};
        array[0] = array;
        root.array = array;
        reopen();
        for (boolean isInside : new boolean[] {false, true}) {
            if (isInside) {
                Transaction.begin();
            }
            Object[] again = root.array;
            assertSame(again, again[0]);
            assertEquals(5, again[1]);
            if (isInside) {
                Transaction.commit();
            }
        }
    }

    @Test
    void aCircleAndWhatIsSharedAreAdoptedOnce() {
        Link chain = Link.chain(3);
        Link last = Link.verify(chain, 3);
        last.next = chain;
        last.other = chain.next;
        chain.array = new Object[] {last, last};
        root.next = chain;
        reopen();
        Link first = root.next;
        assertTrue(first.next.next.next == first);
        assertTrue(first.next.next.other == first.next);
        assertTrue(first.array[0] == first.array[1] && first.array[0] == first.next.next);
    }

    private long objects() {
        return ClassCounts.of(store.attached(), Store.MAIN).values().stream().mapToLong(ClassCounts.Share::count).sum();
    }

    private interface Step {
        void run();
    }

    /** The graph is as it was made, and a part of it is changed and read as any temporary object. */
    private static void verifyTemporary(Link chain, int length, long[] elements) {
        Link last = Link.verify(chain, length);
        for (Link at = chain; at != null; at = at.next) {
            assertFalse(Factory.isPersistent(at));
        }
        Link third = chain.next.next;
        assertArrayEquals(elements, third.longs.toArray());
        assertSame(last, third.array[0]);
        third.longs.set(0, 77);
        assertEquals(77, third.longs.get(0));
        third.longs.set(0, elements[0]);
        chain.text = "another";
        assertEquals("another", chain.text);
        chain.text = "the text of link 0";
    }

    private void fails(int length, Class<? extends Throwable> error, Link chain, Step step) {
        long[] elements = {1, 2, 3};
        Link third = chain.next.next;
        third.longs = new SasLongArray(elements);
        third.array = new Object[] {Link.verify(chain, length), "text"};
        long before = objects();
        for (boolean isInside : new boolean[] {false, true}) {
            if (isInside) {
                Transaction.begin();
                root.number = 5;
            }
            assertThrows(error, step::run);
            verifyTemporary(chain, length, elements);
            assertNull(root.next);
            if (isInside) {
                Transaction.commit();
                assertEquals(5, root.number);
            }
            verifyTemporary(chain, length, elements);
            assertEquals(before, objects(), "objects in the container");
            Stores.check(store);
        }
    }

    @Test
    void whatCannotBePersistentLeavesTheRestTemporary() {
        Link chain = Link.chain(1000);
        Link.verify(chain, 1000).other = new ArrayList<>();
        fails(1000, SASException.class, chain, () -> root.next = chain);
        Link.verify(chain, 1000).other = null;
        root.next = chain;
        assertTrue(Factory.isPersistent(chain));
        reopen();
        Link.verify(root.next, 1000);
        assertArrayEquals(new long[] {1, 2, 3}, root.next.next.next.longs.toArray());
    }

    @Test
    void aStrictStoreLeavesAnObjectWithTemporaryOnesTemporary() {
        open(directory.resolve("store"), SubObjects.STRICT);
        Link chain = Link.chain(10);
        fails(10, SASException.class, chain, () -> Factory.newInstanceNear(Link.class, root, 1, chain));
    }

    @Test
    void whatDoesNotFitLeavesTheRestTemporary() {
        store.createContainer("small", 8 * 4096);
        Link near = Factory.newInstanceIn(Link.class, store.container("small"), -1, null);
        Link chain = Link.chain(1000);
        fails(1000, ContainerFull.class, chain, () -> near.next = chain);
        assertNull(near.next);
        near.next = Link.chain(10);
        Link.verify(near.next, 10);
    }

    /**
     * What a program has made before a transaction can be adopted by the one that comes after an undone one: so a
     * transaction may be run again.
     */
    @Test
    void whatAnUndoneTransactionHadAdoptedIsTemporaryAgain() {
        long[] elements = {1, 2, 3};
        Link chain = Link.chain(5);
        Link third = chain.next.next;
        third.longs = new SasLongArray(elements);
        int[] numbers = {4, 5};
        third.other = numbers;
        third.array = new Object[] {Link.verify(chain, 5), "text"};
        int code = chain.hashCode();
        for (int i = 0; i < 4; i++) {
            boolean isNested = i >= 2;
            if (isNested) {
                Transaction.begin();
                root.number = i;
            }
            assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
                root.next = chain;
                assertTrue(Factory.isPersistent(third) && Factory.isPersistent(third.longs));
                third.number = 77;
                third.next = null;
                chain.text = "another text than before";
                third.longs.set(1, 9);
                ((int[]) third.other)[0] = 4;
                throw new IllegalStateException();
            }));
            assertNull(root.next);
            verifyTemporary(chain, 5, elements);
            assertEquals(code, chain.hashCode());
            assertSame(numbers, third.other);
            numbers[1] = 6 + i;
            third.array[1] = "text";
            if (isNested) {
                Transaction.commit();
                assertEquals(i, root.number);
            }
            Stores.check(store);
        }
        numbers[0] = 8;
        root.next = chain;
        third.longs.set(0, 7);
        reopen();
        Link.verify(root.next, 5);
        Link its = root.next.next.next;
        assertArrayEquals(new long[] {7, 2, 3}, its.longs.toArray());
        assertArrayEquals(new int[] {8, 9}, (int[]) its.other);
        assertTrue(its.array[0] == its.next.next);
    }

    @Test
    void adoptionIsRunAgainAfterConflicts() throws Exception {
        root.other = new SasList<Link>();
        @SuppressWarnings("unchecked")
        SasList<Link> list = (SasList<Link>) root.other;
        List<Thread> threads = new ArrayList<>();
        Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
        AtomicInteger attempts = new AtomicInteger();
        for (int t = 0; t < 4; t++) {
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    for (int i = 0; i < 25; i++) {
                        Link link = new Link(i, null);
                        Transaction.run(() -> {
                            root.other = list;
                            list.add(link);
                            if (attempts.incrementAndGet() % 5 == 0) {
                                throw new TransactionConflict("as if another one had a lock");
                            }
                        });
                    }
                } catch (Throwable e) {
                    thrown.add(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of(), List.copyOf(thrown));
        assertEquals(100, list.size());
        assertTrue(attempts.get() > 100);
    }

    /** The value that a field had is still the field's when the new one does not fit. */
    @Test
    void aTextThatDoesNotFitLeavesTheOneBefore() {
        store.createContainer("small", 2 * 4096);
        Link near = Factory.newInstanceIn(Link.class, store.container("small"), -1, null);
        Transaction.run(() -> {
            assertThrows(ContainerFull.class, () -> near.text = "x".repeat(20_000));
            near.number = 3;
        });
        assertEquals("the text of link -1", near.text);
        assertEquals(3, near.number);
        Stores.check(store);
        Transaction.run(() -> near.text = "y".repeat(1000));
        assertEquals("y".repeat(1000), near.text);
    }
}
