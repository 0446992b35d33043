package dev.norn.sas.util;

import dev.norn.sas.Factory;
import dev.norn.sas.Transactions;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.SortedMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A sorted map for persistent objects, by the keys' own order: a {@linkplain Treap treap}, of which a change moves few
 * nodes. Create it with {@link Factory}; without, it is a temporary map like any other. Null keys are refused. The
 * order of two keys has to be the same in every JVM.
 *
 * <p>Looking up, storing and removing visit 2 ln n nodes of n on average, each of which a transaction locks; so does
 * each step of an iteration. The size of a part is counted. Iterators fail fast: they throw
 * {@link java.util.ConcurrentModificationException} after a change that was not theirs.
 */
public final class SasSortedMap<K extends Comparable<? super K>, V> extends NodeMap<K, V> implements SortedMap<K, V> {
    private int size;
    private Node<K, V> root;

    public SasSortedMap() {}

    /** A map of the mappings that another one has now, in the order of its keys, whatever the order was there. */
    public SasSortedMap(Map<? extends K, ? extends V> mappings) {
        putAll(mappings);
    }

    /** An entry. No node below has a higher rank. */
    static final class Node<K, V> extends MapEntry<K, V> {
        final int rank;
        Node<K, V> left;
        Node<K, V> right;

        Node(K key, V value, int rank) {
            super(key, value);
            this.rank = rank;
        }

        @Override
        int code() {
            return rank;
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    Node<K, V> find(Object key) {
        return tree().find((K) Objects.requireNonNull(key));
    }

    private Treap<K, V> tree() {
        return new Treap<>(root, Comparator.naturalOrder());
    }

    /** Takes over the tree after a change. */
    private void renew(Treap<K, V> tree, int more) {
        if (root != tree.root) {
            root = tree.root;
        }
        size += more;
        changed();
    }

    @Override
    public V put(K key, V value) {
        return Transactions.within(this, () -> {
            Treap<K, V> tree = tree();
            Node<K, V> node = tree.find(Objects.requireNonNull(key));
            if (node != null) {
                return node.setValue(value);
            }
            tree.insert(newNode(this, key, value));
            renew(tree, 1);
            return null;
        });
    }

    @SuppressWarnings("unchecked")
    static <K, V> Node<K, V> newNode(Object owner, K key, V value) {
        int rank = ThreadLocalRandom.current().nextInt() >>> 1;
        return Factory.isPersistent(owner) ? Factory.newInstanceNear(Node.class, owner, key, value, rank)
                : new Node<>(key, value, rank);
    }

    @Override
    void delete(MapEntry<K, V> entry) {
        Treap<K, V> tree = tree();
        tree.remove((Node<K, V>) entry);
        renew(tree, -1);
        destroy(entry);
    }

    @Override
    public int size() {
        return size;
    }

    /** The node with the least key that is not less, or that is greater; null if there is none. */
    private Node<K, V> above(K key, boolean isInclusive) {
        Node<K, V> found = null;
        for (Node<K, V> at = root; at != null;) {
            int order = key == null ? -1 : key.compareTo(at.key);
            if (order < 0 || order == 0 && isInclusive) {
                found = at;
                at = at.left;
            } else {
                at = at.right;
            }
        }
        return found;
    }

    /** The node with the greatest key that is less; the last one for null. */
    private Node<K, V> below(K key) {
        Node<K, V> found = null;
        for (Node<K, V> at = root; at != null;) {
            if (key == null || key.compareTo(at.key) > 0) {
                found = at;
                at = at.right;
            } else {
                at = at.left;
            }
        }
        return found;
    }

    @Override
    public Comparator<? super K> comparator() {
        return null;
    }

    @Override
    public SortedMap<K, V> subMap(K from, K to) {
        return all().subMap(from, to);
    }

    @Override
    public SortedMap<K, V> headMap(K to) {
        return all().headMap(to);
    }

    @Override
    public SortedMap<K, V> tailMap(K from) {
        return all().tailMap(from);
    }

    @Override
    public K firstKey() {
        return all().firstKey();
    }

    @Override
    public K lastKey() {
        return all().lastKey();
    }

    private View<K, V> all() {
        return new View<>(this, null, null);
    }

    @Override
    Iterator<Map.Entry<K, V>> walk() {
        return all().walk();
    }

    /** A part of the map, from one key up to another that is not in it; null is no limit. Always temporary. */
    private static final class View<K extends Comparable<? super K>, V> extends NodeMap<K, V>
            implements SortedMap<K, V> {
        private final SasSortedMap<K, V> map;
        private final K from;
        private final K to;

        View(SasSortedMap<K, V> map, K from, K to) {
            this.map = map;
            this.from = from;
            this.to = to;
        }

        @Override
        NodeMap<K, V> whole() {
            return map;
        }

        private boolean contains(K key) {
            return (from == null || key.compareTo(from) >= 0) && (to == null || key.compareTo(to) < 0);
        }

        @Override
        @SuppressWarnings("unchecked")
        MapEntry<K, V> find(Object key) {
            return contains((K) Objects.requireNonNull(key)) ? map.find(key) : null;
        }

        @Override
        void delete(MapEntry<K, V> entry) {
            map.delete(entry);
        }

        /** The node that follows the key, or the first one; null after the end. */
        private Node<K, V> after(K key, boolean isFirst) {
            return Transactions.within(map, () -> {
                Node<K, V> node = isFirst ? map.above(from, true) : map.above(key, false);
                return node != null && (to == null || node.key.compareTo(to) < 0) ? node : null;
            });
        }

        @Override
        public V put(K key, V value) {
            return map.put(inside(key), value);
        }

        @Override
        public int size() {
            return from == null && to == null ? map.size : Transactions.within(map, this::count);
        }

        private int count() {
            int count = 0;
            for (Node<K, V> at = after(null, true); at != null; at = after(at.key, false)) {
                count++;
            }
            return count;
        }

        @Override
        public boolean isEmpty() {
            return after(null, true) == null;
        }

        @Override
        public Comparator<? super K> comparator() {
            return null;
        }

        private K inside(K key) {
            if (!contains(Objects.requireNonNull(key))) {
                throw outside(key);
            }
            return key;
        }

        /** An end is not in the part that it ends, so it may be the end of this part. */
        private K end(K key) {
            Objects.requireNonNull(key);
            if (from != null && key.compareTo(from) < 0 || to != null && key.compareTo(to) > 0) {
                throw outside(key);
            }
            return key;
        }

        private static IllegalArgumentException outside(Object key) {
            return new IllegalArgumentException("key " + key + " is not within this part of the map");
        }

        @Override
        public SortedMap<K, V> subMap(K first, K last) {
            if (first.compareTo(last) > 0) {
                throw new IllegalArgumentException("a part of the map cannot begin at " + first + " and end at " + last
                        + ", which is less");
            }
            return new View<>(map, inside(first), end(last));
        }

        @Override
        public SortedMap<K, V> headMap(K last) {
            return new View<>(map, from, end(last));
        }

        @Override
        public SortedMap<K, V> tailMap(K first) {
            return new View<>(map, inside(first), to);
        }

        @Override
        public K firstKey() {
            return key(after(null, true));
        }

        @Override
        public K lastKey() {
            return key(Transactions.within(map, () -> {
                Node<K, V> node = map.below(to);
                return node != null && contains(node.key) ? node : null;
            }));
        }

        private static <K> K key(Node<K, ?> node) {
            if (node == null) {
                throw new NoSuchElementException("no key is within this part of the map");
            }
            return node.getKey();
        }

        @Override
        Iterator<Map.Entry<K, V>> walk() {
            return new InOrder<>(this).start();
        }
    }

    private static final class InOrder<K extends Comparable<? super K>, V> extends Walk<K, V> {
        private final View<K, V> view;
        private Node<K, V> at;

        InOrder(View<K, V> view) {
            super(view.map);
            this.view = view;
        }

        @Override
        MapEntry<K, V> follow() {
            at = at == null ? view.after(null, true) : view.after(at.key, false);
            return at;
        }
    }
}
