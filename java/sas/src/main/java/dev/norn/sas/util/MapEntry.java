package dev.norn.sas.util;

import java.util.Map;
import java.util.Objects;

/** A key and its value: what the nodes of {@link SasMap} and {@link SasSortedMap} have in common. */
abstract class MapEntry<K, V> implements Map.Entry<K, V> {
    final K key;
    V value;

    MapEntry(K key, V value) {
        this.key = key;
        this.value = value;
    }

    /**
     * A number that the entry keeps. Costs less than key and value to read, and throws {@link
     * dev.norn.sas.exception.ObjectDestroyed} if the entry is gone.
     */
    abstract int code();

    @Override
    public K getKey() {
        return key;
    }

    @Override
    public V getValue() {
        return value;
    }

    @Override
    public V setValue(V fresh) {
        V old = value;
        value = fresh;
        return old;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Map.Entry<?, ?> entry && Objects.equals(key, entry.getKey())
                && Objects.equals(value, entry.getValue());
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(key) ^ Objects.hashCode(value);
    }

    @Override
    public String toString() {
        return key + "=" + value;
    }
}
