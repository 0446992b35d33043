package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.util.SasList;
import dev.norn.sas.util.SasMap;
import dev.norn.sas.util.SasSortedMap;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A loop over a persistent collection that changes it gets a ConcurrentModificationException, also outside transactions
 * in a store that was opened again. There each use of the field makes a new handle, and an iterator that counted the
 * changes of its own handle noticed none: a loop that added an element each time never ended.
 */
class FailFastTest {
    private static final int STEPS_MAX = 20;
    private static final int SIZE = 8;

    @TempDir
    Path directory;
    private Store store;

    static class Box {
        private final List<Integer> items = new SasList<>();
        private final Map<Integer, Integer> map = new SasMap<>();
        private final SortedMap<Integer, Integer> sorted = new SasSortedMap<>();

        List<Integer> items() { return items; }

        Map<Integer, Integer> map() { return map; }

        SortedMap<Integer, Integer> sorted() { return sorted; }
    }

    private static final class TooManySteps extends RuntimeException {}

    @BeforeEach
    void fillAndOpenAgain() {
        store = Store.create(directory, Stores.SMALL);
        Box box = Factory.newInstanceIn(Box.class, store.container(Store.MAIN));
        store.setRoot("box", box);
        Transaction.run(() -> {
            for (int i = 0; i < SIZE; i++) {
                box.items().add(i);
                box.map().put(i, i);
                box.sorted().put(i, i);
            }
        });
        store.close();
        store = Store.open(directory);
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    private Box box() {
        return store.root("box", Box.class);
    }

    /** What a loop may call at each element; it ends a loop that would not end. */
    private static Consumer<Object> bounded(Runnable change) {
        int[] steps = {0};
        return element -> {
            if (++steps[0] > STEPS_MAX) {
                throw new TooManySteps();
            }
            change.run();
        };
    }

    private static <C> List<Consumer<Runnable>> loops(Collection<C> all) {
        return List.of(change -> {
            Consumer<Object> body = bounded(change);
            for (C element : all) {
                body.accept(element);
            }
        }, change -> all.forEach(bounded(change)), change -> all.stream().forEach(bounded(change)),
                change -> all.iterator().forEachRemaining(bounded(change)));
    }

    private static void assertNoticed(Collection<?> all, Runnable... changes) {
        for (Runnable change : changes) {
            for (Consumer<Runnable> loop : loops(all)) {
                assertThrows(ConcurrentModificationException.class, () -> loop.accept(change));
            }
        }
    }

    @Test
    void aLoopOverAListNoticesItsOwnChanges() {
        Box box = box();
        Runnable add = () -> box.items().add(99);
        Runnable replace = () -> {
            box.items().remove(0);
            box.items().add(99);
        };
        assertNoticed(box.items(), add, replace, () -> Transaction.run(replace::run), () -> box().items().add(0, 99));
        assertNoticed(box.items().subList(1, 5), add, replace);
        ListIterator<Integer> backwards = box.items().listIterator(5);
        assertEquals(4, backwards.previousIndex());
        backwards.previous();
        replace.run();
        for (Runnable use : List.<Runnable>of(backwards::previous, backwards::next, backwards::remove,
                () -> backwards.set(1), () -> backwards.add(1))) {
            assertThrows(ConcurrentModificationException.class, use::run);
        }
    }

    @Test
    void aLoopOverAMapNoticesItsOwnChanges() {
        Box box = box();
        int[] fresh = {100};
        for (Function<Box, Map<Integer, Integer>> field : List.<Function<Box, Map<Integer, Integer>>>of(Box::map,
                Box::sorted, its -> its.sorted().tailMap(1))) {
            Map<Integer, Integer> map = field.apply(box);
            Runnable add = () -> field.apply(box).put(fresh[0]++, 1);
            // The size stays, and the entry that the iterator is about to give out.
            Runnable replace = () -> {
                field.apply(box).put(fresh[0]++, 1);
                field.apply(box).remove(fresh[0] - 1);
            };
            assertNoticed(map.keySet(), add, replace, () -> Transaction.run(replace::run));
            assertNoticed(map.values(), add, replace);
            assertNoticed(map.entrySet(), add, replace);
            assertThrows(ConcurrentModificationException.class, () -> map.forEach((key, value) -> replace.run()));
        }
    }

    @Test
    void iteratorsMayChangeWhatTheyIterate() {
        Box box = box();
        List<Integer> seen = new ArrayList<>();
        for (ListIterator<Integer> all = box.items().listIterator(); all.hasNext();) {
            int element = all.next();
            seen.add(element);
            if (element % 2 == 0) {
                all.remove();
            } else {
                all.set(-element);
                all.add(element);
            }
        }
        assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7), seen);
        assertEquals(List.of(-1, 1, -3, 3, -5, 5, -7, 7), box.items());
        for (Iterator<Integer> all = box.map().keySet().iterator(); all.hasNext();) {
            all.next();
            all.remove();
        }
        assertTrue(box.map().isEmpty());
    }

    @Test
    void changesOfOtherCollectionsAndOfElementsAreNone() {
        Box box = box();
        for (Integer element : box.items()) {
            box.items().set(element, element + 1);
            box.map().put(element, element + 1);
            box.sorted().remove(element);
        }
        assertEquals(List.of(1, 2, 3, 4, 5, 6, 7, 8), box.items());
    }

    @Test
    void aChangeByAnotherThreadIsNoticedByTheSize() throws Exception {
        Box box = box();
        Iterator<Integer> items = box.items().iterator();
        Iterator<Integer> keys = box.map().keySet().iterator();
        Thread.ofPlatform().start(() -> Transaction.run(() -> {
            box().items().add(99);
            box().map().put(99, 99);
        })).join();
        assertThrows(ConcurrentModificationException.class, items::next);
        assertThrows(ConcurrentModificationException.class, keys::next);
    }
}
