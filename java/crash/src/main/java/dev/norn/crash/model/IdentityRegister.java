package dev.norn.crash.model;

import dev.norn.sas.util.SasList;
import dev.norn.sas.util.SasMap;

/**
 * In a {@link SasMap} whose keys are hashed by their identity; a list has them in order. The keys are made as temporary
 * objects and adopted.
 */
final class IdentityRegister extends Register {
    private final SasList<Key> keys = new SasList<>();
    private final SasMap<Key, Long> ids = new SasMap<>();

    /** Has neither equals nor hashCode. In some stores its class has fields more, so that it moves. */
    static final class Key {
        private final int index;

        Key(int index) {
            this.index = index;
        }
    }

    @Override
    void put(int index, long id) {
        Key key = new Key(index);
        keys.add(key);
        ids.put(key, id);
    }

    @Override
    long[] all() {
        long[] all = new long[keys.size()];
        if (ids.size() != all.length) {
            throw new IllegalStateException(all.length + " keys, and " + ids.size() + " in the map");
        }
        for (int i = 0; i < all.length; i++) {
            Key key = keys.get(i);
            Long id = ids.get(key);
            if (id == null || key.index != i) {
                throw new IllegalStateException("the map has no value for the key " + i + ", which says " + key.index);
            }
            all[i] = id;
        }
        return all;
    }
}
