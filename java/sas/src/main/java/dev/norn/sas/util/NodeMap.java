package dev.norn.sas.util;

import dev.norn.sas.Factory;
import dev.norn.sas.Transactions;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.runtime.ChangeCounts;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;

/**
 * What {@link SasMap} and {@link SasSortedMap} have in common: a map whose entries are objects, its views, and
 * iterators that fail fast.
 *
 * <p>An iterator compares the number of changes that its thread has made, and the map's size. So every change by its
 * own thread is noticed, whichever handle made it. A change by another thread or program, outside a transaction or
 * between two, is noticed if the size differs or an entry is gone.
 */
abstract class NodeMap<K, V> extends AbstractMap<K, V> {
    /** Changes of a temporary map. No field of the persistent object, as its name says. */
    private int $sas$changes;

    /** The map that has the entries: this one, or the one that this is a part of. */
    NodeMap<K, V> whole() {
        return this;
    }

    /** The entry of the key; null if there is none. In a transaction. */
    abstract MapEntry<K, V> find(Object key);

    /** Takes an entry out. In a transaction. */
    abstract void delete(MapEntry<K, V> entry);

    abstract Iterator<Map.Entry<K, V>> walk();

    /** Says that an entry came or went. */
    final void changed() {
        $sas$changes++;
        Transactions.changed(this);
    }

    final void destroy(Object node) {
        if (Factory.isPersistent(node)) {
            Factory.destroyInstance(node);
        }
    }

    @Override
    public V get(Object key) {
        return Transactions.within(whole(), () -> {
            MapEntry<K, V> entry = find(key);
            return entry == null ? null : entry.value;
        });
    }

    @Override
    public boolean containsKey(Object key) {
        return Transactions.within(whole(), () -> find(key) != null);
    }

    @Override
    public V remove(Object key) {
        return Transactions.within(whole(), () -> {
            MapEntry<K, V> entry = find(key);
            V old = entry == null ? null : entry.value;
            if (entry != null) {
                whole().delete(entry);
            }
            return old;
        });
    }

    /** Removes the mapping if there is one; says whether there was. */
    private boolean removeKey(Object key) {
        return Transactions.within(whole(), () -> {
            MapEntry<K, V> entry = find(key);
            if (entry != null) {
                whole().delete(entry);
            }
            return entry != null;
        });
    }

    @Override
    public Set<Map.Entry<K, V>> entrySet() {
        return new Entries<>(this);
    }

    @Override
    public Set<K> keySet() {
        return new Keys<>(this);
    }

    /** Always temporary, as all views. */
    private static final class Entries<K, V> extends AbstractSet<Map.Entry<K, V>> {
        private final NodeMap<K, V> map;

        Entries(NodeMap<K, V> map) {
            this.map = map;
        }

        @Override
        public int size() {
            return map.size();
        }

        @Override
        public Iterator<Map.Entry<K, V>> iterator() {
            return map.walk();
        }

        @Override
        public boolean contains(Object object) {
            return object instanceof Map.Entry<?, ?> entry
                    && Transactions.within(map.whole(), () -> entry.equals(map.find(entry.getKey())));
        }

        @Override
        public boolean remove(Object object) {
            return object instanceof Map.Entry<?, ?> entry
                    && Transactions.within(map.whole(), () -> contains(entry) && map.removeKey(entry.getKey()));
        }
    }

    private static final class Keys<K, V> extends AbstractSet<K> {
        private final NodeMap<K, V> map;

        Keys(NodeMap<K, V> map) {
            this.map = map;
        }

        @Override
        public int size() {
            return map.size();
        }

        @Override
        public Iterator<K> iterator() {
            Iterator<Map.Entry<K, V>> entries = map.walk();
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return entries.hasNext();
                }

                @Override
                public K next() {
                    return entries.next().getKey();
                }

                @Override
                public void remove() {
                    entries.remove();
                }
            };
        }

        @Override
        public boolean contains(Object key) {
            return map.containsKey(key);
        }

        @Override
        public boolean remove(Object key) {
            return map.removeKey(key);
        }
    }

    /** Goes from entry to entry. */
    abstract static class Walk<K, V> implements Iterator<Map.Entry<K, V>> {
        private final NodeMap<K, V> map;
        private final ChangeCounts.Count changes;
        private long expectedChanges;
        private int size;
        private MapEntry<K, V> next;
        private Seen<K, V> last;

        Walk(NodeMap<K, V> map) {
            this.map = map;
            changes = Transactions.changes(map);
            expect();
        }

        /** The entry that follows; null at the end. */
        abstract MapEntry<K, V> follow();

        /** Goes to the first entry. */
        final Walk<K, V> start() {
            next = follow();
            return this;
        }

        private void expect() {
            expectedChanges = map.$sas$changes + changes.changes();
            size = map.size();
        }

        private void check() {
            if (map.$sas$changes + changes.changes() != expectedChanges || map.size() != size) {
                throw new ConcurrentModificationException("the map has changed since the iteration began");
            }
        }

        @Override
        public boolean hasNext() {
            return next != null;
        }

        @Override
        public Map.Entry<K, V> next() {
            check();
            if (next == null) {
                throw new NoSuchElementException();
            }
            try {
                last = new Seen<>(next);
                next = follow();
                return last;
            } catch (ObjectDestroyed e) {
                throw (ConcurrentModificationException) new ConcurrentModificationException("an entry was removed "
                        + "since the iteration began").initCause(e);
            }
        }

        @Override
        public void remove() {
            if (last == null) {
                throw new IllegalStateException("call next() first");
            }
            check();
            Transactions.within(map, () -> {
                last.read();
                map.delete(last.entry);
                return null;
            });
            last = null;
            expect();
        }
    }

    /**
     * An entry as an iterator gives it out. Once the mapping is removed, it has the key and the value that it read
     * last.
     */
    private static final class Seen<K, V> implements Map.Entry<K, V> {
        private final MapEntry<K, V> entry;
        private K key;
        private V value;

        /** @throws ObjectDestroyed if the entry is gone */
        Seen(MapEntry<K, V> entry) {
            this.entry = entry;
            entry.code();
            read();
        }

        /** A key or value that was destroyed does not stop the iteration; who asks for it gets the exception. */
        private void read() {
            try {
                key = entry.key;
                value = entry.value;
            } catch (ObjectDestroyed e) {
                // Its own methods read it again.
            }
        }

        private boolean isGone() {
            try {
                entry.code();
                return false;
            } catch (ObjectDestroyed e) {
                return true;
            }
        }

        @Override
        public K getKey() {
            return isGone() ? key : entry.key;
        }

        @Override
        public V getValue() {
            if (!isGone()) {
                value = entry.value;
            }
            return value;
        }

        @Override
        public V setValue(V fresh) {
            V old = getValue();
            if (!isGone()) {
                entry.setValue(fresh);
            }
            value = fresh;
            return old;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Map.Entry<?, ?> its && Objects.equals(getKey(), its.getKey())
                    && Objects.equals(getValue(), its.getValue());
        }

        @Override
        public int hashCode() {
            return Objects.hashCode(getKey()) ^ Objects.hashCode(getValue());
        }

        @Override
        public String toString() {
            return getKey() + "=" + getValue();
        }
    }
}
