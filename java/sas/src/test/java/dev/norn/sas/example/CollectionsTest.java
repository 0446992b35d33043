package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.util.SasList;
import dev.norn.sas.util.SasMap;
import dev.norn.sas.util.SasSortedMap;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Persistent collections against those of the JDK, under random operations in transactions of which some are undone.
 */
class CollectionsTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);

    @TempDir
    Path directory;
    private Store store;
    private final Random random = new Random(SEED);

    /** Fields typed as interfaces of the JDK accept the persistent collections. */
    static class Holder {
        Map<Object, Object> map;
        List<Object> list;
        SortedMap<String, Integer> sorted;
    }

    private static final class Undo extends RuntimeException {}

    @BeforeEach
    void open() {
        store = Store.create(directory, Stores.SMALL.withLogBytes(1 << 22));
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    /** Runs the action in a transaction; every fourth one is undone. Says whether it was not. */
    private boolean sometimes(Runnable action) {
        boolean isUndone = random.nextInt(4) == 0;
        try {
            Transaction.run(() -> {
                action.run();
                if (isUndone) {
                    throw new Undo();
                }
            });
        } catch (Undo e) {
            return false;
        }
        return true;
    }

    @Test
    void aMapIsAMap() {
        Holder holder = Factory.newPermInstance(Holder.class);
        holder.map = Factory.newInstanceNear(SasMap.class, holder);
        Map<Object, Object> model = new HashMap<>();
        for (int round = 0; round < 60; round++) {
            Map<Object, Object> next = new HashMap<>(model);
            if (sometimes(() -> {
                for (int i = 0; i < 10; i++) {
                    Object key = random.nextBoolean() ? (Object) random.nextInt(300)
                            : "key number " + random.nextInt(200);
                    if (random.nextInt(3) == 0) {
                        assertEquals(next.remove(key), holder.map.remove(key));
                    } else {
                        String value = "value " + random.nextInt();
                        assertEquals(next.put(key, value), holder.map.put(key, value));
                    }
                }
            })) {
                model = next;
            }
            assertEquals(model, holder.map, "seed " + SEED);
        }
        store.setRoot("holder", holder);
        store.close();
        store = Store.open(directory);
        assertEquals(model, store.root("holder", Holder.class).map);
        store.root("holder", Holder.class).map.clear();
        assertEquals(0, store.root("holder", Holder.class).map.size());
    }

    @Test
    void aListIsAList() {
        Holder holder = Factory.newPermInstance(Holder.class);
        holder.list = Factory.newInstanceNear(SasList.class, holder);
        List<Object> model = new ArrayList<>();
        for (int round = 0; round < 60; round++) {
            List<Object> next = new ArrayList<>(model);
            if (sometimes(() -> {
                for (int i = 0; i < 60; i++) {
                    int at = next.isEmpty() ? 0 : random.nextInt(next.size());
                    switch (next.isEmpty() ? 9 : random.nextInt(10)) {
                        case 0 -> assertEquals(next.remove(at), holder.list.remove(at));
                        case 1 -> assertEquals(next.set(at, "set " + i), holder.list.set(at, "set " + i));
                        case 2 -> {
                            next.add(at, i);
                            holder.list.add(at, i);
                        }
                        default -> {
                            next.add("an element that needs some bytes " + i);
                            holder.list.add("an element that needs some bytes " + i);
                        }
                    }
                }
            })) {
                model = next;
            }
            assertEquals(model.size(), holder.list.size());
        }
        assertEquals(model, holder.list, "seed " + SEED);
    }

    @Test
    void aSortedMapIsASortedMap() {
        Holder holder = Factory.newPermInstance(Holder.class);
        holder.sorted = Factory.newInstanceNear(SasSortedMap.class, holder);
        TreeMap<String, Integer> model = new TreeMap<>();
        for (int round = 0; round < 60; round++) {
            TreeMap<String, Integer> next = new TreeMap<>(model);
            if (sometimes(() -> {
                for (int i = 0; i < 10; i++) {
                    String key = "key " + random.nextInt(200);
                    if (random.nextInt(3) == 0) {
                        assertEquals(next.remove(key), holder.sorted.remove(key));
                    } else {
                        assertEquals(next.put(key, i), holder.sorted.put(key, i));
                    }
                }
            })) {
                model = next;
            }
            assertEquals(new ArrayList<>(model.entrySet()), new ArrayList<>(holder.sorted.entrySet()), "seed " + SEED);
        }
        assertEquals(model.firstKey(), holder.sorted.firstKey());
        assertEquals(model.lastKey(), holder.sorted.lastKey());
        assertEquals(new ArrayList<>(model.subMap("key 12", "key 51").entrySet()),
                new ArrayList<>(holder.sorted.subMap("key 12", "key 51").entrySet()));
        assertEquals(model.headMap("key 3").lastKey(), holder.sorted.headMap("key 3").lastKey());
        assertEquals(model.tailMap("key 3").firstKey(), holder.sorted.tailMap("key 3").firstKey());
        assertEquals(model.tailMap("key 3").size(), holder.sorted.tailMap("key 3").size());
    }

    /** Keys of one hash code, most of which have an order. */
    private static class Like {
        static int comparisons;
        final int number;

        Like(int number) {
            this.number = number;
        }

        @Override
        public int hashCode() {
            return 7;
        }

        @Override
        public boolean equals(Object other) {
            comparisons++;
            return other instanceof Like like && number == like.number;
        }
    }

    private static final class OrderedLike extends Like implements Comparable<OrderedLike> {
        OrderedLike(int number) {
            super(number);
        }

        /** Does not distinguish all that {@code equals} does. */
        @Override
        public int compareTo(OrderedLike other) {
            comparisons++;
            return Integer.compare(number / 3, other.number / 3);
        }
    }

    private Object like(int number) {
        Like key = number % 5 == 0 ? new Like(number) : new OrderedLike(number);
        return switch (number % 50) {
            case 0 -> null;
            case 1 -> "a key of another hash code";
            default -> key;
        };
    }

    @Test
    void aMapOfEqualHashCodesIsAMap() {
        reopen(SubObjects.ADOPT);
        Holder holder = Factory.newPermInstance(Holder.class);
        holder.map = Factory.newInstanceNear(SasMap.class, holder);
        Map<Object, Object> model = new HashMap<>();
        for (int round = 0; round < 40; round++) {
            Map<Object, Object> next = new HashMap<>(model);
            int count = random.nextInt(100);
            if (sometimes(() -> {
                for (int i = 0; i < count; i++) {
                    Object key = like(random.nextInt(100));
                    if (random.nextInt(3) == 0) {
                        assertEquals(next.remove(key), holder.map.remove(key), "seed " + SEED);
                    } else {
                        assertEquals(next.put(key, i), holder.map.put(key, i), "seed " + SEED);
                    }
                }
            })) {
                model = next;
            }
            assertEquals(model, new HashMap<>(holder.map), "seed " + SEED);
            assertEquals(model, holder.map, "seed " + SEED);
        }
        holder.map.clear();
        assertEquals(0, holder.map.size());
    }

    @Test
    void keysOfOneHashCodeAreFoundInATree() {
        int count = 1 << 10;
        Map<Object, Integer> map = new SasMap<>();
        SortedMap<OrderedLike, Integer> sorted = new SasSortedMap<>();
        for (int i = 0; i < count; i++) {
            map.put(new OrderedLike(3 * i), i);
            sorted.put(new OrderedLike(3 * i), i);
        }
        Like.comparisons = 0;
        for (int i = 0; i < count; i++) {
            assertEquals(i, map.get(new OrderedLike(3 * i)));
            assertEquals(i, sorted.get(new OrderedLike(3 * i)));
        }
        // 2 ln n is 14; a list would take 512.
        assertTrue(Like.comparisons < 2 * count * 30, Like.comparisons + " comparisons");
    }

    private void assertSurvivesItsRemoval(Map.Entry<?, ?> entry, Runnable removal) {
        Object key = entry.getKey();
        Object value = entry.getValue();
        removal.run();
        assertEquals(key, entry.getKey());
        assertEquals(value, entry.getValue());
        assertEquals(Map.entry(key, value), entry);
        assertEquals(key + "=" + value, entry.toString());
    }

    private void removeEntries(Map<String, Integer> map) {
        for (int i = 0; i < 40; i++) {
            map.put("key " + i, i);
        }
        var entries = map.entrySet().iterator();
        assertSurvivesItsRemoval(entries.next(), entries::remove);
        Map.Entry<String, Integer> untouched = entries.next();
        entries.remove();
        assertEquals(untouched.getKey(), "key " + untouched.getValue());
        Map.Entry<String, Integer> entry = entries.next();
        assertSurvivesItsRemoval(entry, () -> map.remove(entry.getKey()));
        Map.Entry<String, Integer> kept = map.entrySet().iterator().next();
        map.put(kept.getKey(), 77);
        assertEquals(77, kept.getValue());
        assertEquals(77, kept.setValue(78));
        assertEquals(78, map.get(kept.getKey()));
        assertSurvivesItsRemoval(kept, map::clear);
    }

    @Test
    @SuppressWarnings("unchecked")
    void anEntryThatWasRemovedHasWhatItHad() {
        for (Class<? extends Map<String, Integer>> type : List.of((Class<Map<String, Integer>>) (Class<?>) SasMap.class,
                (Class<Map<String, Integer>>) (Class<?>) SasSortedMap.class)) {
            removeEntries(Factory.newPermInstance(type));
            Transaction.run(() -> removeEntries(Factory.newPermInstance(type)));
        }
    }

    @Test
    void anIterationFailsWhenAnotherHandleOfTheCollectionChangesIt() {
        Holder holder = Factory.newPermInstance(Holder.class);
        holder.map = Factory.newInstanceNear(SasMap.class, holder);
        holder.sorted = Factory.newInstanceNear(SasSortedMap.class, holder);
        holder.list = Factory.newInstanceNear(SasList.class, holder);
        for (String key : List.of("a", "b", "c")) {
            holder.map.put(key, 1);
            holder.sorted.put(key, 1);
            holder.list.add(key);
        }
        // Outside transactions, each use of the field gives a handle of its own.
        assertFails(holder.map, holder.map, map -> map.keySet().iterator(),
                map -> map.put("d" + random.nextInt(), map.remove(map.keySet().iterator().next())));
        assertFails(holder.sorted, holder.sorted, map -> map.keySet().iterator(),
                map -> map.put("d" + random.nextInt(), map.remove(map.keySet().iterator().next())));
        assertFails(holder.list, holder.list, List::iterator, list -> list.add(list.remove(0)));
    }

    private <C> void assertFails(C collection, C other, Function<C, Iterator<?>> iteration, Consumer<C> change) {
        Transaction.run(() -> {
            for (List<C> handles : List.of(List.of(collection, other), List.of(other, collection))) {
                Iterator<?> iterator = iteration.apply(handles.getFirst());
                iterator.next();
                change.accept(handles.getLast());
                assertThrows(ConcurrentModificationException.class, iterator::next);
            }
        });
    }

    @Test
    void aPrimitiveClassIsAValue() {
        Holder holder = Factory.newPermInstance(Holder.class);
        holder.list = Factory.newInstanceNear(SasList.class, holder);
        List<Object> classes =
                List.of(int.class, boolean.class, void.class, int[].class, String[][].class, Map.Entry.class);
        classes.forEach(holder.list::add);
        assertEquals(classes, holder.list);
    }

    private void reopen(SubObjects subObjects) {
        store.close();
        store = Store.open(directory, subObjects);
    }

    @Test
    void collectionsAreMadeOfOthers() {
        Map<String, Integer> mappings = Map.of("b", 2, "a", 1);
        assertEquals(List.of("x", "y"), new SasList<>(List.of("x", "y")));
        assertEquals(mappings, new SasMap<>(mappings));
        assertEquals("{a=1, b=2}", new SasSortedMap<>(mappings).toString());
        Holder holder = Factory.newPermInstance(Holder.class);
        holder.list = Factory.newInstanceNear(SasList.class, holder, List.of("x", "y"));
        holder.sorted = new SasSortedMap<>(mappings);
        assertEquals(List.of("x", "y"), holder.list);
        assertEquals("{a=1, b=2}", holder.sorted.toString());
    }
}
