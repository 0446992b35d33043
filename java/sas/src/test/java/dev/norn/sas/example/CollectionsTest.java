package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.util.SasList;
import dev.norn.sas.util.SasMap;
import dev.norn.sas.util.SasSortedMap;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Persistent collections against those of the JDK, under random operations in transactions of which some are undone. */
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
                    Object key = random.nextBoolean() ? (Object) random.nextInt(300) : "key number " + random.nextInt(200);
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
        assertEquals(new ArrayList<>(model.subMap("key 12", "key 51").entrySet()), new ArrayList<>(holder.sorted.subMap("key 12", "key 51").entrySet()));
        assertEquals(model.headMap("key 3").lastKey(), holder.sorted.headMap("key 3").lastKey());
        assertEquals(model.tailMap("key 3").firstKey(), holder.sorted.tailMap("key 3").firstKey());
        assertEquals(model.tailMap("key 3").size(), holder.sorted.tailMap("key 3").size());
    }
}
