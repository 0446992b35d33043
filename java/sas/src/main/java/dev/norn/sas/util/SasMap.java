package dev.norn.sas.util;

import dev.norn.sas.Factory;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;

/**
 * A hash map for persistent objects: a trie of nodes of sixteen over the keys' hash codes, so that a transaction locks the few nodes on its way only. Create it with
 * {@link Factory}; without, it is a temporary map like any other. Nodes and entries are placed beside it. Keys are values or persistent objects; their hash codes
 * have to be the same in every JVM, which those of values and of classes without their own are. Null keys are allowed.
 *
 * <p>Looking up, storing and removing cost a node of each level, log<sub>16</sub> of the size. Iteration is in no order, and fails or not, as it happens, when the map is
 * changed meanwhile.
 */
public final class SasMap<K, V> extends AbstractMap<K, V> {
    private static final int BITS = Slots.BITS;
    private static final int WIDTH = Slots.WIDTH;
    private static final int HASH_BITS = 32;

    private int size;
    private Slots root;

    /** An entry; others of the same hash code follow. */
    private static final class Entry<K, V> extends MapEntry<K, V> {
        private final int hash;
        private Entry<K, V> next;

        Entry(K key, int hash, V value, Entry<K, V> next) {
            super(key, value);
            this.hash = hash;
            this.next = next;
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

    @SuppressWarnings("unchecked")
    private Entry<K, V> newEntry(K key, int hash, V value, Entry<K, V> next) {
        return Factory.isPersistent(this) ? Factory.newInstanceNear(Entry.class, this, key, hash, value, next) : new Entry<>(key, hash, value, next);
    }

    @SuppressWarnings("unchecked")
    private Entry<K, V> find(Object key) {
        int hash = hash(key);
        Object at = root;
        for (int level = 0; at instanceof Slots node; level++) {
            at = node.get(slot(hash, level));
        }
        for (Entry<K, V> entry = (Entry<K, V>) at; entry != null; entry = entry.next) {
            if (entry.hash == hash && Objects.equals(entry.key, key)) {
                return entry;
            }
        }
        return null;
    }

    @Override
    public V get(Object key) {
        return dev.norn.sas.Transactions.within(this, () -> {
            Entry<K, V> entry = find(key);
            return entry == null ? null : entry.value;
        });
    }

    @Override
    public boolean containsKey(Object key) {
        return dev.norn.sas.Transactions.within(this, () -> find(key) != null);
    }

    @Override
    public V put(K key, V value) {
        return dev.norn.sas.Transactions.within(this, () -> {
            Entry<K, V> entry = find(key);
            if (entry != null) {
                return entry.setValue(value);
            }
            insert(key, hash(key), value);
            size++;
            return null;
        });
    }

    @SuppressWarnings("unchecked")
    private void insert(K key, int hash, V value) {
        if (root == null) {
            root = Slots.near(this);
        }
        Slots node = root;
        int level = 0;
        while (node.get(slot(hash, level)) instanceof Slots below) {
            node = below;
            level++;
        }
        Entry<K, V> there = (Entry<K, V>) node.get(slot(hash, level));
        // Entries of another hash code go a level down, until the codes part.
        while (there != null && there.hash != hash) {
            Slots below = Slots.near(this);
            node.set(slot(hash, level), below);
            level++;
            below.set(slot(there.hash, level), there);
            node = below;
            there = (Entry<K, V>) node.get(slot(hash, level));
        }
        node.set(slot(hash, level), newEntry(key, hash, value, there));
    }

    @Override
    public V remove(Object key) {
        return dev.norn.sas.Transactions.within(this, () -> delete(key));
    }

    @SuppressWarnings("unchecked")
    private V delete(Object key) {
        Entry<K, V> entry = find(key);
        if (entry == null) {
            return null;
        }
        Slots node = root;
        int level = 0;
        while (node.get(slot(entry.hash, level)) instanceof Slots below) {
            node = below;
            level++;
        }
        Entry<K, V> before = (Entry<K, V>) node.get(slot(entry.hash, level));
        if (before == entry) {
            node.set(slot(entry.hash, level), entry.next);
        } else {
            while (before.next != entry) {
                before = before.next;
            }
            before.next = entry.next;
        }
        V value = entry.value;
        size--;
        if (Factory.isPersistent(entry)) {
            Factory.destroyInstance(entry);
        }
        return value;
    }

    @Override
    public void clear() {
        dev.norn.sas.Transactions.within(this, () -> {
            for (K key : keySet().toArray((K[]) new Object[0])) {
                delete(key);
            }
            return null;
        });
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public Set<Map.Entry<K, V>> entrySet() {
        return new Entries<>(this);
    }

    /** The view that iterates; always temporary. */
    private static final class Entries<K, V> extends AbstractSet<Map.Entry<K, V>> {
        private final SasMap<K, V> map;

        Entries(SasMap<K, V> map) {
            this.map = map;
        }

        @Override
        public int size() {
            return map.size;
        }

        @Override
        public Iterator<Map.Entry<K, V>> iterator() {
            return new Walk<>(map);
        }
    }

    private static final class Walk<K, V> implements Iterator<Map.Entry<K, V>> {
        private final SasMap<K, V> map;
        private final Deque<Object> waiting = new ArrayDeque<>();
        private Entry<K, V> next;
        private Entry<K, V> last;

        Walk(SasMap<K, V> map) {
            this.map = map;
            if (map.root != null) {
                waiting.push(map.root);
            }
            advance();
        }

        @SuppressWarnings("unchecked")
        private void advance() {
            next = next == null ? null : next.next;
            while (next == null && !waiting.isEmpty()) {
                Object at = waiting.pop();
                if (at instanceof Slots node) {
                    for (int i = 0; i < WIDTH; i++) {
                        Object slot = node.get(i);
                        if (slot != null) {
                            waiting.push(slot);
                        }
                    }
                } else {
                    next = (Entry<K, V>) at;
                }
            }
        }

        @Override
        public boolean hasNext() {
            return next != null;
        }

        @Override
        public Map.Entry<K, V> next() {
            if (next == null) {
                throw new NoSuchElementException();
            }
            last = next;
            advance();
            return last;
        }

        @Override
        public void remove() {
            if (last == null) {
                throw new IllegalStateException("next() comes first");
            }
            map.remove(last.key);
            last = null;
        }
    }
}
