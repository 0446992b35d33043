package dev.norn.sas.util;

import dev.norn.sas.Factory;
import dev.norn.sas.Transactions;
import dev.norn.sas.util.SasSortedMap.Node;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;

/**
 * A hash map for persistent objects: a trie of nodes of sixteen over the keys' hash codes, so that a transaction locks
 * the few nodes on its way only. Create it with {@link Factory}; without, it is a temporary map like any other. Nodes
 * and entries are placed beside it. Keys are values or persistent objects; their hash codes, and the order of those
 * that are {@link Comparable}, have to be the same in every JVM, which those of values and of classes without their own
 * are. Null keys are allowed.
 *
 * <p>Looking up, storing and removing cost a node of each level, log<sub>16</sub> of the size. Of n keys with one hash
 * code, those whose class is comparable with itself, as {@code String} is, are in a tree, and cost 2 ln n nodes more;
 * the others are in a list, and cost n entries more. Two such keys of different classes must not be equal. Iteration is
 * in no order. Iterators fail fast: they throw {@link java.util.ConcurrentModificationException} after a change that
 * was not theirs.
 */
public final class SasMap<K, V> extends NodeMap<K, V> {
    private static final int BITS = Slots.BITS;
    private static final int WIDTH = Slots.WIDTH;
    private static final int HASH_BITS = 32;
    /** The most entries of one hash code that are a list. More become a tree of lists. */
    private static final int LIST_MAX = 8;

    private int size;
    private Slots root;

    public SasMap() {}

    /** A map of the mappings that another one has now. */
    public SasMap(Map<? extends K, ? extends V> mappings) {
        putAll(mappings);
    }

    /**
     * An entry. Others of the same hash code follow it; in a tree, those that the tree's order does not distinguish
     * from it.
     */
    private static final class Entry<K, V> extends MapEntry<K, V> {
        private final int hash;
        private Entry<K, V> next;

        Entry(K key, int hash, V value, Entry<K, V> next) {
            super(key, value);
            this.hash = hash;
            this.next = next;
        }

        @Override
        int code() {
            return hash;
        }
    }

    private static int hash(Object key) {
        // The hash code of a constant differs from JVM to JVM; that of its name does not.
        int hash = key instanceof Enum<?> constant ? constant.name().hashCode() : Objects.hashCode(key);
        return hash * 0x9E3779B9;
    }

    private static int slot(int hash, int level) {
        return hash >>> HASH_BITS - BITS * (level + 1) & WIDTH - 1;
    }

    /** The hash code of what a slot has, an entry or a tree of entries. */
    private static int hashOf(Object there) {
        return there instanceof Node<?, ?> node ? ((Entry<?, ?>) node.value).hash : ((Entry<?, ?>) there).hash;
    }

    @SuppressWarnings("unchecked")
    private Entry<K, V> newEntry(K key, int hash, V value) {
        return Factory.isPersistent(this) ? Factory.newInstanceNear(Entry.class, this, key, hash, value, null)
                : new Entry<>(key, hash, value, null);
    }

    @SuppressWarnings("unchecked")
    private static <K, V> Treap<K, Entry<K, V>> tree(Object top) {
        return new Treap<>((Node<K, Entry<K, V>>) top, KeyOrder.OF_ONE_HASH_CODE);
    }

    @Override
    @SuppressWarnings("unchecked")
    Entry<K, V> find(Object key) {
        int hash = hash(key);
        Object at = root;
        for (int level = 0; at instanceof Slots node; level++) {
            at = node.get(slot(hash, level));
        }
        if (at == null || hashOf(at) != hash) {
            return null;
        }
        return at instanceof Entry<?, ?> list ? inList((Entry<K, V>) list, key)
                : inTree(SasMap.<K, V>tree(at), (K) key);
    }

    private static <K, V> Entry<K, V> inList(Entry<K, V> list, Object key) {
        for (Entry<K, V> entry = list; entry != null; entry = entry.next) {
            if (Objects.equals(entry.key, key)) {
                return entry;
            }
        }
        return null;
    }

    /** Keys without an order may equal any other, so they are compared with all, and all with them. */
    private static <K, V> Entry<K, V> inTree(Treap<K, Entry<K, V>> tree, K key) {
        Entry<K, V> found = inList(listOf(tree.find(key)), key);
        if (found != null || KeyOrder.isOrdered(key)) {
            return found != null ? found : inList(listOf(tree.find(null)), key);
        }
        return tree.nodes().stream()
                .map(node -> inList(node.value, key)).filter(Objects::nonNull).findFirst().orElse(null);
    }

    private static <K, V> Entry<K, V> listOf(Node<K, Entry<K, V>> node) {
        return node == null ? null : node.value;
    }

    @Override
    public V put(K key, V value) {
        return Transactions.within(this, () -> {
            Entry<K, V> entry = find(key);
            if (entry != null) {
                return entry.setValue(value);
            }
            insert(newEntry(key, hash(key), value));
            size++;
            changed();
            return null;
        });
    }

    private void insert(Entry<K, V> entry) {
        if (root == null) {
            root = Slots.near(this);
        }
        Slots node = root;
        int level = 0;
        while (node.get(slot(entry.hash, level)) instanceof Slots below) {
            node = below;
            level++;
        }
        Object there = node.get(slot(entry.hash, level));
        // Entries of another hash code go a level down, until the codes part.
        while (there != null && hashOf(there) != entry.hash) {
            Slots below = Slots.near(this);
            node.set(slot(entry.hash, level), below);
            level++;
            below.set(slot(hashOf(there), level), there);
            node = below;
            there = node.get(slot(entry.hash, level));
        }
        node.set(slot(entry.hash, level), with(there, entry));
    }

    /** What a slot has when an entry is added to what is there, of the same hash code. */
    @SuppressWarnings("unchecked")
    private Object with(Object there, Entry<K, V> entry) {
        if (there instanceof Node<?, ?>) {
            return inserted(tree(there), entry);
        }
        int length = 0;
        for (Entry<K, V> at = (Entry<K, V>) there; at != null && length < LIST_MAX; at = at.next) {
            length++;
        }
        if (length < LIST_MAX) {
            entry.next = (Entry<K, V>) there;
            return entry;
        }
        Treap<K, Entry<K, V>> tree = tree(null);
        for (Entry<K, V> at = (Entry<K, V>) there; at != null;) {
            Entry<K, V> following = at.next;
            inserted(tree, at);
            at = following;
        }
        return inserted(tree, entry);
    }

    private Node<K, Entry<K, V>> inserted(Treap<K, Entry<K, V>> tree, Entry<K, V> entry) {
        Node<K, Entry<K, V>> equal = tree.find(entry.key);
        entry.next = equal == null ? null : equal.value;
        if (equal == null) {
            tree.insert(SasSortedMap.newNode(this, entry.key, entry));
        } else {
            equal.value = entry;
        }
        return tree.root;
    }

    @Override
    void delete(MapEntry<K, V> entry) {
        int hash = entry.code();
        Slots node = root;
        int level = 0;
        while (node.get(slot(hash, level)) instanceof Slots below) {
            node = below;
            level++;
        }
        node.set(slot(hash, level), without(node.get(slot(hash, level)), (Entry<K, V>) entry));
        size--;
        changed();
        destroy(entry);
    }

    /** What a slot has when an entry is taken out of what is there. */
    @SuppressWarnings("unchecked")
    private Object without(Object there, Entry<K, V> entry) {
        if (there instanceof Entry<?, ?> list) {
            return withoutInList((Entry<K, V>) list, entry);
        }
        Treap<K, Entry<K, V>> tree = tree(there);
        Node<K, Entry<K, V>> node = tree.find(entry.key);
        Entry<K, V> rest = withoutInList(node.value, entry);
        if (rest == node.value) {
            return there;
        }
        // The node has the key of its first entry, which may be destroyed when its entry is gone.
        tree.remove(node);
        destroy(node);
        if (rest != null) {
            tree.insert(SasSortedMap.newNode(this, rest.key, rest));
        }
        return tree.root;
    }

    private static <K, V> Entry<K, V> withoutInList(Entry<K, V> list, Entry<K, V> entry) {
        if (list == entry) {
            return entry.next;
        }
        Entry<K, V> before = list;
        while (before.next != entry) {
            before = before.next;
        }
        before.next = entry.next;
        return list;
    }

    @Override
    @SuppressWarnings("unchecked")
    public void clear() {
        Transactions.within(this, () -> {
            for (Map.Entry<K, V> entry : entrySet().toArray(new Map.Entry[0])) {
                remove(entry.getKey());
            }
            return null;
        });
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    Iterator<Map.Entry<K, V>> walk() {
        return new ByHash<>(this).start();
    }

    private static final class ByHash<K, V> extends Walk<K, V> {
        /** Nodes, and first entries of lists, that were not visited. */
        private final Deque<Object> waiting = new ArrayDeque<>();
        private Entry<K, V> at;

        ByHash(SasMap<K, V> map) {
            super(map);
            if (map.root != null) {
                waiting.push(map.root);
            }
        }

        @Override
        @SuppressWarnings("unchecked")
        MapEntry<K, V> follow() {
            at = at == null ? null : at.next;
            while (at == null && !waiting.isEmpty()) {
                switch (waiting.pop()) {
                    case Slots node -> pushAll(node);
                    case Node<?, ?> top -> SasMap.<K, V>tree(top).nodes().forEach(node -> waiting.push(node.value));
                    case Object entry -> at = (Entry<K, V>) entry;
                }
            }
            return at;
        }

        private void pushAll(Slots node) {
            for (int i = 0; i < WIDTH; i++) {
                Object slot = node.get(i);
                if (slot != null) {
                    waiting.push(slot);
                }
            }
        }
    }
}
