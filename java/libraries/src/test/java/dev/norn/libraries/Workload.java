package dev.norn.libraries;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.HashBiMap;
import com.google.common.collect.MinMaxPriorityQueue;
import com.google.common.collect.Ordering;
import com.google.common.collect.TreeMultiset;
import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.util.SasMap;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.commons.collections4.bidimap.TreeBidiMap;
import org.apache.commons.collections4.list.TreeList;
import org.apache.commons.collections4.map.LinkedMap;
import org.apache.commons.collections4.queue.CircularFifoQueue;
import org.apache.commons.lang3.mutable.MutableInt;
import org.apache.commons.lang3.mutable.MutableObject;
import org.apache.commons.lang3.tuple.ImmutablePair;
import org.apache.commons.lang3.tuple.MutableTriple;
import org.apache.commons.text.TextStringBuilder;

/**
 * Libraries' classes with persistent instances, beside temporary ones of the JDK as the model; seen again by a store
 * that is opened anew.
 */
final class Workload {
    private static final String[] PACKAGES = {"org.apache.commons.lang3", "org.apache.commons.collections4",
            "org.apache.commons.text", "com.google.common"};

    private Workload() {}

    static String agent() {
        return Jvm.sasAgent(PACKAGES);
    }

    /** What a child JVM runs: {@code STORE}. */
    public static void main(String[] arguments) {
        run(Path.of(arguments[0]));
        System.out.println("done");
    }

    /** Makes the store in {@code directory}, fills it, and opens it again. */
    @SuppressWarnings("unchecked")
    static void run(Path directory) {
        Store.create(directory, Store.Options.defaults().withLogBytes(1 << 20)).close();
        try (Store store = Store.open(directory, SubObjects.ADOPT)) {
            fill(store, store.container("main"));
        }
        try (Store store = Store.open(directory, SubObjects.ADOPT)) {
            verify(store);
        }
    }

    @SuppressWarnings("unchecked")
    private static void fill(Store store, Container main) {
        MutableInt number = Factory.newInstanceIn(MutableInt.class, main, 5);
        MutableInt again = number;
        number.add(2);
        assertEquals(8, number.incrementAndGet());
        assertTrue(again.equals(new MutableInt(8)) && again.hashCode() == new MutableInt(8).hashCode());
        store.setRoot("number", number);

        store.setRoot("pair", Factory.newInstanceIn(ImmutablePair.class, main, "left", 42));
        MutableTriple<Object, Object, Object> triple = Factory.newInstanceIn(MutableTriple.class,
                main, "a", number, null);
        triple.setRight(new MutableObject<>("adopted"));
        store.setRoot("triple", triple);

        TextStringBuilder text = Factory.newInstanceIn(TextStringBuilder.class, main, "a persistent builder");
        Transaction.run(() -> text.append(" that grew ").append(3).append(" times").replaceAll("builder", "text"));
        store.setRoot("text", text);

        TreeList<String> list = Factory.newInstanceIn(TreeList.class, main);
        TreeBidiMap<String, Integer> bidi = Factory.newInstanceIn(TreeBidiMap.class, main);
        HashBiMap<String, Integer> map = Transaction.call(() -> persistent(HashBiMap.create(), main));
        CircularFifoQueue<String> queue = Factory.newInstanceIn(CircularFifoQueue.class, main, 7);
        TreeMultiset<String> bag = Transaction.call(() -> persistent(TreeMultiset.create(), main));
        store.setRoot("list", list);
        store.setRoot("bidi", bidi);
        store.setRoot("map", map);
        store.setRoot("queue", queue);
        store.setRoot("bag", bag);
        Map<String, Integer> model = new TreeMap<>();
        Random random = new Random(1997);
        for (int round = 0; round < 20; round++) {
            Transaction.run(() -> {
                for (int i = 0; i < 10; i++) {
                    int key = random.nextInt(60);
                    String name = "name " + key;
                    list.add(random.nextInt(list.size() + 1), name);
                    queue.add(name);
                    bag.add(name);
                    if (random.nextInt(3) == 0) {
                        model.remove(name);
                        map.remove(name);
                        bidi.remove(name);
                    } else {
                        model.put(name, key);
                        map.put(name, key);
                        bidi.put(name, key);
                    }
                }
            });
            // What is undone leaves no trace.
            Transaction.begin();
            list.clear();
            bidi.put("undone", -1);
            map.put("undone", -1);
            bag.clear();
            Transaction.abort();
        }
        verifyCollections(model, list, map, bidi, queue, bag);
        constants(store, main);
        refuse(main);
    }

    /** Their marks and comparators are in static fields, which every JVM has its own of: they stay temporary. */
    private static void constants(Store store, Container main) {
        LinkedMap<String, Integer> map = Factory.newInstanceIn(LinkedMap.class, main);
        map.put(null, 1);
        map.put("second", 2);
        store.setRoot("linked", map);
        assertTrue(!Factory.isPersistent(Ordering.natural()));
    }

    /** A library's factory method makes a temporary object; an object that refers to it adopts it. */
    @SuppressWarnings("unchecked")
    private static <T> T persistent(T temporary, Container container) {
        MutableObject<T> holder = Factory.newInstanceIn(MutableObject.class, container);
        holder.setValue(temporary);
        assertSame(temporary, holder.getValue());
        assertTrue(Factory.isPersistent(temporary));
        return holder.getValue();
    }

    private static void verifyCollections(Map<String, Integer> model, TreeList<String> list,
            HashBiMap<String, Integer> map, TreeBidiMap<String, Integer> bidi, CircularFifoQueue<String> queue,
            TreeMultiset<String> bag) {
        Transaction.run(() -> {
            assertEquals(model, map);
            assertEquals(model, bidi);
            model.forEach((name, key) -> assertEquals(name, bidi.getKey(key)));
            assertEquals(200, list.size());
            assertEquals(200, bag.size());
            assertEquals(List.copyOf(bag), list.stream().sorted().toList());
            assertEquals(7, queue.size());
        });
    }

    /** What cannot be persistent says so when it is to become so. */
    private static void refuse(Container main) {
        assertThrows(SASException.class, () -> Factory.newInstanceIn(java.util.ArrayDeque.class, main));
        // Its fields are reached by Unsafe or by updaters.
        var future = com.google.common.util.concurrent.SettableFuture.create();
        future.set("temporary instances work");
        String message =
                assertThrows(SASException.class, () -> Transaction.run(() -> persistent(future, main))).getMessage();
        assertTrue(message.contains("cannot be persistent"), message);
        MinMaxPriorityQueue<String> queue = MinMaxPriorityQueue.orderedBy(Comparator.<String>reverseOrder())
                .create(List.of("b", "c", "a"));
        assertEquals("c", queue.pollFirst());
    }

    @SuppressWarnings("unchecked")
    private static void verify(Store store) {
        assertEquals(8, store.root("number", MutableInt.class).intValue());
        assertEquals(ImmutablePair.of("left", 42), store.root("pair", ImmutablePair.class));
        MutableTriple<Object, Object, Object> triple = store.root("triple", MutableTriple.class);
        assertTrue(triple.getMiddle() instanceof MutableInt number && number.intValue() == 8);
        assertEquals("adopted", ((MutableObject<?>) triple.getRight()).getValue());
        assertEquals("a persistent text that grew 3 times", store.root("text", TextStringBuilder.class).toString());
        HashBiMap<String, Integer> map = store.root("map", HashBiMap.class);
        Map<String, Integer> model = Transaction.call(() -> new TreeMap<>(map));
        verifyCollections(model, store.root("list", TreeList.class), map, store.root("bidi", TreeBidiMap.class),
                store.root("queue", CircularFifoQueue.class), store.root("bag", TreeMultiset.class));
        LinkedMap<String, Integer> linked = store.root("linked", LinkedMap.class);
        assertEquals(List.of(1, 2), Transaction.call(() -> List.copyOf(linked.values())));
        assertEquals(1, linked.get(null));
        assertSame(Ordering.natural(), store.root("bag", TreeMultiset.class).comparator());
        SasMap<String, Object> own = Factory.newPermInstance(SasMap.class);
        own.put("pair", store.root("pair", Object.class));
        assertEquals("left", ((ImmutablePair<?, ?>) own.get("pair")).getLeft());
    }
}
