package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.example.Nest.Leaf;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Transactions of random nested runs, some of which throw and are caught, on a {@link Nest} in a store and on a model
 * of it in plain collections, or on the model alone. Each transaction's random numbers derive from the seed and its
 * number, so the model of any moment can be made again.
 */
final class NestedRuns {
    private static final int DEPTH = 4;
    private static final int LEAVES = 12;

    private final long seed;
    /** Null if there is no store. */
    private final Store store;
    private Nest nest;
    private State state = new State();
    private Random random;

    NestedRuns(long seed, Store store) {
        this.seed = seed;
        this.store = store;
    }

    static Store open(java.nio.file.Path at) {
        return Store.open(at, SubObjects.ADOPT);
    }

    static Store create(java.nio.file.Path at) {
        Store.create(at, Stores.SMALL).close();
        Store store = open(at);
        store.setRoot("nest", Factory.newInstanceIn(Nest.class, store.container(Store.MAIN)));
        return store;
    }

    private static final class LeafState {
        int value;
        double share;
        String text;
        Integer next;
        List<String> own = List.of();
        int[] numbers;

        LeafState copy() {
            LeafState copy = new LeafState();
            copy.value = value;
            copy.share = share;
            copy.text = text;
            copy.next = next;
            copy.own = own;
            copy.numbers = numbers == null ? null : numbers.clone();
            return copy;
        }
    }

    private static final class State {
        long transactions;
        int nextId = 1;
        final TreeMap<Integer, LeafState> leaves = new TreeMap<>();
        final List<String> list = new ArrayList<>();
        final TreeMap<String, Integer> sorted = new TreeMap<>();
        final TreeMap<String, Integer> roots = new TreeMap<>();
        final long[] large = new long[Nest.LARGE];
        final long[] small = new long[Nest.SMALL];
        int[] numbers = new int[Nest.SMALL];
        String[] texts = new String[Nest.SMALL];

        State copy() {
            State copy = new State();
            copy.transactions = transactions;
            copy.nextId = nextId;
            leaves.forEach((id, leaf) -> copy.leaves.put(id, leaf.copy()));
            copy.list.addAll(list);
            copy.sorted.putAll(sorted);
            copy.roots.putAll(roots);
            System.arraycopy(large, 0, copy.large, 0, large.length);
            System.arraycopy(small, 0, copy.small, 0, small.length);
            copy.numbers = numbers.clone();
            copy.texts = texts.clone();
            return copy;
        }
    }

    /** What a run throws to be taken back. */
    private static final class Undone extends RuntimeException {
        Undone() {
            super("undone", null, false, false);
        }
    }

    /** Brings the model to where the store is. */
    void replay(long transactions) {
        NestedRuns model = new NestedRuns(seed, null);
        while (model.state.transactions < transactions) {
            model.transaction(model.state.transactions);
        }
        state = model.state;
    }

    long transactions() {
        return state.transactions;
    }

    /** Runs transaction number {@code number}; it commits. Those that are undone come before it, as part of it. */
    void transaction(long number) {
        random = new Random(seed * 1_000_003 + number);
        if (store != null) {
            nest = store.root("nest", Nest.class);
        }
        while (random.nextInt(4) == 0) {
            State before = state.copy();
            outermost(() -> {
                steps(0);
                throw new Undone();
            });
            state = before;
        }
        outermost(() -> {
            steps(0);
            state.transactions++;
            if (store != null) {
                nest.transactions++;
            }
        });
    }

    /** With one thread, no attempt is run again. */
    private void outermost(Runnable action) {
        if (store == null) {
            catching(action);
        } else {
            catching(() -> Transaction.run(action::run));
        }
    }

    private static void catching(Runnable action) {
        try {
            action.run();
        } catch (Undone e) {
            // As is meant.
        }
    }

    private void nested(int depth) {
        boolean isUndone = random.nextBoolean();
        State before = state.copy();
        Runnable action = () -> {
            steps(depth);
            if (isUndone) {
                throw new Undone();
            }
        };
        catching(store == null ? action : () -> Transaction.run(action::run));
        if (isUndone) {
            state = before;
        }
        if (random.nextInt(4) == 0) {
            verify();
        }
    }

    private void steps(int depth) {
        for (int steps = 1 + random.nextInt(6); steps > 0; steps--) {
            if (depth < DEPTH && random.nextInt(3) == 0) {
                nested(depth + 1);
            } else {
                step();
            }
        }
    }

    private String text() {
        return random.nextInt(4) == 0 ? "short" : "text " + random.nextInt(1000) + " ".repeat(random.nextInt(60)) + ".";
    }

    private Integer anyLeaf() {
        return state.leaves.isEmpty() ? null
                : state.leaves.keySet().stream().skip(random.nextInt(state.leaves.size())).findFirst().orElseThrow();
    }

    private void step() {
        switch (random.nextInt(14)) {
            case 0 -> create();
            case 1 -> destroy();
            case 2, 3 -> setFields();
            case 4 -> link();
            case 5 -> adopt();
            case 6 -> leafNumbers();
            case 7 -> changeList();
            case 8 -> changeSorted();
            case 9 -> root();
            case 10, 11 -> large();
            case 12 -> small();
            default -> arrays();
        }
    }

    private void create() {
        if (state.leaves.size() == LEAVES) {
            return;
        }
        int id = state.nextId++;
        LeafState leaf = new LeafState();
        leaf.text = text();
        state.leaves.put(id, leaf);
        boolean isAdopted = random.nextBoolean();
        if (store != null) {
            nest.leaves.put(id,
                    isAdopted ? new Leaf(id, leaf.text) : Factory.newInstanceNear(Leaf.class, nest, id, leaf.text));
        }
    }

    private void destroy() {
        Integer id = anyLeaf();
        if (id == null || random.nextBoolean()) {
            return;
        }
        state.leaves.remove(id);
        state.leaves.values().stream().filter(leaf -> id.equals(leaf.next)).forEach(leaf -> leaf.next = null);
        List<String> names = state.roots.keySet().stream().filter(name -> id.equals(state.roots.get(name))).toList();
        names.forEach(state.roots::remove);
        if (store != null) {
            Leaf leaf = nest.leaves.remove(id);
            nest.leaves.values().stream().filter(other -> other.next == leaf).forEach(other -> other.next = null);
            names.forEach(name -> store.setRoot(name, null));
            for (Leaf own = (Leaf) leaf.own; own != null;) {
                Leaf next = own.next;
                Factory.destroyInstance(own);
                own = next;
            }
            Factory.destroyInstance(leaf);
        }
    }

    private void setFields() {
        Integer id = anyLeaf();
        if (id == null) {
            return;
        }
        LeafState leaf = state.leaves.get(id);
        leaf.value = random.nextInt();
        leaf.share = random.nextDouble();
        boolean hasText = random.nextBoolean();
        leaf.text = hasText ? text() : leaf.text;
        if (store != null) {
            Leaf its = nest.leaves.get(id);
            its.value = leaf.value;
            its.share = leaf.share;
            if (hasText) {
                its.text = leaf.text;
            }
        }
    }

    private void link() {
        Integer from = anyLeaf();
        Integer to = anyLeaf();
        if (from == null) {
            return;
        }
        state.leaves.get(from).next = to;
        if (store != null) {
            nest.leaves.get(from).next = nest.leaves.get(to);
        }
    }

    /** Temporary leaves, each with a reference to the next, and an array, become persistent. */
    private void adopt() {
        Integer id = anyLeaf();
        if (id == null) {
            return;
        }
        List<String> texts = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            texts.add(text());
        }
        state.leaves.get(id).own = texts;
        if (store != null) {
            Leaf first = null;
            for (String text : texts.reversed()) {
                Leaf leaf = new Leaf(id, text);
                leaf.next = first;
                leaf.numbers = new int[] {text.length()};
                first = leaf;
            }
            nest.leaves.get(id).own = first;
        }
    }

    private void leafNumbers() {
        Integer id = anyLeaf();
        if (id == null) {
            return;
        }
        LeafState leaf = state.leaves.get(id);
        int at = random.nextInt(5);
        int value = random.nextInt();
        boolean isNew = leaf.numbers == null || random.nextInt(3) == 0;
        if (isNew) {
            leaf.numbers = new int[] {1, 2, 3, 4, value};
        }
        leaf.numbers[at] = value;
        if (store != null) {
            Leaf its = nest.leaves.get(id);
            if (isNew) {
                its.numbers = new int[] {1, 2, 3, 4, value};
            }
            its.numbers[at] = value;
        }
    }

    private void changeList() {
        String text = text();
        int size = state.list.size();
        int at = size == 0 ? 0 : random.nextInt(size);
        int kind = size > 40 ? 2 : random.nextInt(3);
        change(state.list, kind, at, text);
        if (store != null) {
            change(nest.list, kind, at, text);
        }
    }

    private static void change(List<String> list, int kind, int at, String text) {
        if (kind == 0 || list.isEmpty()) {
            list.add(text);
        } else if (kind == 1) {
            list.set(at, text);
        } else {
            list.removeLast();
        }
    }

    private void changeSorted() {
        String key = "key " + random.nextInt(40);
        int value = random.nextInt();
        boolean isRemoved = random.nextInt(3) == 0;
        change(state.sorted, key, isRemoved ? null : value);
        if (store != null) {
            change(nest.sorted, key, isRemoved ? null : value);
        }
    }

    private static void change(Map<String, Integer> map, String key, Integer value) {
        if (value == null) {
            map.remove(key);
        } else {
            map.put(key, value);
        }
    }

    private void root() {
        Integer id = anyLeaf();
        String name = "root " + random.nextInt(3);
        boolean isRemoved = id == null || random.nextInt(3) == 0;
        change(state.roots, name, isRemoved ? null : id);
        if (store != null) {
            store.setRoot(name, isRemoved ? null : nest.leaves.get(id));
        }
    }

    private void large() {
        int at = random.nextInt(Nest.LARGE);
        int end = random.nextInt(3) == 0 ? Math.min(Nest.LARGE, at + random.nextInt(400)) : at + 1;
        long value = random.nextLong();
        Arrays.fill(state.large, at, end, value);
        if (store != null) {
            nest.large.fill(at, end, value);
        }
    }

    private void small() {
        int at = random.nextInt(Nest.SMALL);
        state.small[at] = random.nextLong();
        if (store != null) {
            nest.small.set(at, state.small[at]);
        }
    }

    private void arrays() {
        int at = random.nextInt(Nest.SMALL);
        boolean isNew = random.nextInt(8) == 0;
        if (isNew) {
            state.numbers = new int[Nest.SMALL];
        }
        state.numbers[at] = random.nextInt();
        state.texts[at] = text();
        if (store != null) {
            if (isNew) {
                nest.numbers = new int[Nest.SMALL];
            }
            nest.numbers[at] = state.numbers[at];
            nest.texts[at] = state.texts[at];
        }
    }

    /** Compares all of the store with the model. */
    void verify() {
        if (store == null) {
            return;
        }
        nest = store.root("nest", Nest.class);
        String when = "transaction " + state.transactions + " of seed " + seed;
        Transaction.run(() -> {
            assertEquals(state.transactions, nest.transactions, when);
            assertEquals(state.leaves.keySet(), new java.util.TreeSet<>(nest.leaves.keySet()), when);
            state.leaves.forEach((id, leaf) -> verify(leaf, nest.leaves.get(id), when + ", leaf " + id));
            assertEquals(state.list, new ArrayList<>(nest.list), when);
            assertEquals(state.sorted, new TreeMap<>(nest.sorted), when);
            assertArrayEquals(state.large, nest.large.toArray(), when);
            assertArrayEquals(state.small, nest.small.toArray(), when);
            assertArrayEquals(state.numbers, nest.numbers, when);
            assertArrayEquals(state.texts, nest.texts, when);
            for (String name : List.of("root 0", "root 1", "root 2")) {
                Leaf leaf = store.root(name, Leaf.class);
                assertEquals(state.roots.get(name), leaf == null ? null : (Integer) leaf.id, when);
            }
        });
    }

    private static void verify(LeafState leaf, Leaf its, String when) {
        assertEquals(leaf.value, its.value, when);
        assertEquals(leaf.share, its.share, when);
        assertEquals(leaf.text, its.text, when);
        assertEquals(leaf.next, its.next == null ? null : (Integer) its.next.id, when);
        assertArrayEquals(leaf.numbers, its.numbers, when);
        Leaf own = (Leaf) its.own;
        for (String text : leaf.own) {
            assertNotNull(own, when);
            assertEquals(text, own.text, when);
            assertArrayEquals(new int[] {text.length()}, own.numbers, when);
            own = own.next;
        }
        assertNull(own, when);
    }

    /** Continues where the store is until it is killed, saying when a transaction is committed. */
    public static void main(String[] arguments) {
        Store store = open(java.nio.file.Path.of(arguments[0]));
        NestedRuns runs = new NestedRuns(Long.parseLong(arguments[1]), store);
        runs.replay(store.root("nest", Nest.class).transactions);
        for (;;) {
            runs.transaction(runs.transactions());
            System.out.println(runs.transactions());
        }
    }
}
