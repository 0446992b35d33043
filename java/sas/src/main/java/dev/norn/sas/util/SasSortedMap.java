package dev.norn.sas.util;

import dev.norn.sas.Factory;
import dev.norn.sas.Transactions;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;

/**
 * A sorted map for persistent objects, by the keys' own order: a treap, whose shape depends on a hash of the keys alone, so that a change moves few nodes. Create it with
 * {@link Factory}; without, it is a temporary map like any other. Null keys are refused.
 *
 * <p>Looking up, storing and removing cost some 2 log<sub>2</sub> of the size in nodes, each of which a transaction locks.
 */
public final class SasSortedMap<K extends Comparable<? super K>, V> extends AbstractMap<K, V> implements SortedMap<K, V> {
    private int size;
    private Node<K, V> root;

    /** An entry. No node below has a higher rank. */
    private static final class Node<K, V> extends MapEntry<K, V> {
        private final int rank;
        private Node<K, V> left;
        private Node<K, V> right;

        Node(K key, V value, int rank) {
            super(key, value);
            this.rank = rank;
        }
    }

    @SuppressWarnings("unchecked")
    private Node<K, V> find(Object key) {
        K wanted = (K) Objects.requireNonNull(key);
        Node<K, V> at = root;
        while (at != null) {
            int order = wanted.compareTo(at.key);
            if (order == 0) {
                return at;
            }
            at = order < 0 ? at.left : at.right;
        }
        return null;
    }

    @Override
    public V get(Object key) {
        return Transactions.within(this, () -> {
            Node<K, V> node = find(key);
            return node == null ? null : node.value;
        });
    }

    @Override
    public boolean containsKey(Object key) {
        return Transactions.within(this, () -> find(key) != null);
    }

    @Override
    public V put(K key, V value) {
        return Transactions.within(this, () -> {
            Node<K, V> node = find(key);
            if (node != null) {
                return node.setValue(value);
            }
            insert(newNode(key, value));
            size++;
            return null;
        });
    }

    @SuppressWarnings("unchecked")
    private Node<K, V> newNode(K key, V value) {
        int rank = key.hashCode() * 0x9E3779B9 >>> 1;
        return Factory.isPersistent(this) ? Factory.newInstanceNear(Node.class, this, key, value, rank) : new Node<>(key, value, rank);
    }

    /** Puts a child in the place of another. */
    private void replace(Node<K, V> parent, Node<K, V> old, Node<K, V> fresh) {
        if (parent == null) {
            root = fresh;
        } else if (parent.left == old) {
            parent.left = fresh;
        } else {
            parent.right = fresh;
        }
    }

    /** Goes down to the first node of a lower rank, and splits what is below it at the key. */
    private void insert(Node<K, V> node) {
        Node<K, V> parent = null;
        Node<K, V> at = root;
        while (at != null && at.rank >= node.rank) {
            parent = at;
            at = node.key.compareTo(at.key) < 0 ? at.left : at.right;
        }
        if (parent == null) {
            root = node;
        } else if (node.key.compareTo(parent.key) < 0) {
            parent.left = node;
        } else {
            parent.right = node;
        }
        split(node, at);
    }

    private void split(Node<K, V> node, Node<K, V> from) {
        Node<K, V> lower = null;
        Node<K, V> higher = null;
        Node<K, V> at = from;
        while (at != null) {
            if (at.key.compareTo(node.key) < 0) {
                if (lower == null) {
                    node.left = at;
                } else {
                    lower.right = at;
                }
                lower = at;
                at = at.right;
            } else {
                if (higher == null) {
                    node.right = at;
                } else {
                    higher.left = at;
                }
                higher = at;
                at = at.left;
            }
        }
        if (lower != null) {
            lower.right = null;
        }
        if (higher != null) {
            higher.left = null;
        }
    }

    @Override
    public V remove(Object key) {
        return Transactions.within(this, () -> {
            Node<K, V> node = find(key);
            return node == null ? null : delete(node);
        });
    }

    private V delete(Node<K, V> node) {
        Node<K, V> parent = null;
        for (Node<K, V> at = root; at != node; at = node.key.compareTo(at.key) < 0 ? at.left : at.right) {
            parent = at;
        }
        Node<K, V> left = node.left;
        Node<K, V> right = node.right;
        Node<K, V> hole = node;
        // The higher of the two sides moves up, again and again.
        while (left != null && right != null) {
            if (left.rank >= right.rank) {
                replace(parent, hole, left);
                parent = left;
                hole = left.right;
                left = left.right;
                if (left == null) {
                    parent.right = right;
                    right = null;
                    hole = null;
                }
            } else {
                replace(parent, hole, right);
                parent = right;
                hole = right.left;
                right = right.left;
                if (right == null) {
                    parent.left = left;
                    left = null;
                    hole = null;
                }
            }
        }
        if (hole != null) {
            replace(parent, hole, left != null ? left : right);
        }
        V value = node.value;
        size--;
        if (Factory.isPersistent(node)) {
            Factory.destroyInstance(node);
        }
        return value;
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
        return new View<>(this, Objects.requireNonNull(from), Objects.requireNonNull(to));
    }

    @Override
    public SortedMap<K, V> headMap(K to) {
        return new View<>(this, null, Objects.requireNonNull(to));
    }

    @Override
    public SortedMap<K, V> tailMap(K from) {
        return new View<>(this, Objects.requireNonNull(from), null);
    }

    @Override
    public K firstKey() {
        return new View<>(this, null, null).firstKey();
    }

    @Override
    public K lastKey() {
        return new View<>(this, null, null).lastKey();
    }

    @Override
    public Set<Map.Entry<K, V>> entrySet() {
        return new View<>(this, null, null).entrySet();
    }

    /** A part of the map, from one key up to another that is not in it; null is no limit. Always temporary. */
    private static final class View<K extends Comparable<? super K>, V> extends AbstractMap<K, V> implements SortedMap<K, V> {
        private final SasSortedMap<K, V> map;
        private final K from;
        private final K to;

        View(SasSortedMap<K, V> map, K from, K to) {
            this.map = map;
            this.from = from;
            this.to = to;
        }

        private boolean contains(K key) {
            return (from == null || key.compareTo(from) >= 0) && (to == null || key.compareTo(to) < 0);
        }

        /** The node that follows the key, or the first one; null behind the end. */
        private Node<K, V> after(K key, boolean isFirst) {
            return Transactions.within(map, () -> {
                Node<K, V> node = isFirst ? map.above(from, true) : map.above(key, false);
                return node != null && (to == null || node.key.compareTo(to) < 0) ? node : null;
            });
        }

        @Override
        public V put(K key, V value) {
            if (!contains(key)) {
                throw new IllegalArgumentException("key " + key + " is not within this part of the map");
            }
            return map.put(key, value);
        }

        @Override
        public Comparator<? super K> comparator() {
            return null;
        }

        private K higher(K a, K b) {
            return a == null || b != null && b.compareTo(a) > 0 ? b : a;
        }

        private K lower(K a, K b) {
            return a == null || b != null && b.compareTo(a) < 0 ? b : a;
        }

        @Override
        public SortedMap<K, V> subMap(K first, K last) {
            return new View<>(map, higher(from, first), lower(to, last));
        }

        @Override
        public SortedMap<K, V> headMap(K last) {
            return new View<>(map, from, lower(to, last));
        }

        @Override
        public SortedMap<K, V> tailMap(K first) {
            return new View<>(map, higher(from, first), to);
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
        public Set<Map.Entry<K, V>> entrySet() {
            return new Entries<>(this);
        }
    }

    private static final class Entries<K extends Comparable<? super K>, V> extends AbstractSet<Map.Entry<K, V>> {
        private final View<K, V> view;

        Entries(View<K, V> view) {
            this.view = view;
        }

        @Override
        public int size() {
            if (view.from == null && view.to == null) {
                return view.map.size;
            }
            int count = 0;
            for (Node<K, V> at = view.after(null, true); at != null; at = view.after(at.key, false)) {
                count++;
            }
            return count;
        }

        @Override
        public Iterator<Map.Entry<K, V>> iterator() {
            return new Walk<>(view);
        }
    }

    private static final class Walk<K extends Comparable<? super K>, V> implements Iterator<Map.Entry<K, V>> {
        private final View<K, V> view;
        private Node<K, V> next;
        private K last;

        Walk(View<K, V> view) {
            this.view = view;
            next = view.after(null, true);
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
            Node<K, V> node = next;
            last = node.key;
            next = view.after(last, false);
            return node;
        }

        @Override
        public void remove() {
            if (last == null) {
                throw new IllegalStateException("next() comes first");
            }
            view.map.remove(last);
            last = null;
        }
    }
}
