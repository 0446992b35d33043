package dev.norn.sas.runtime;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The identity hash codes of objects that were made temporary again, when the transaction that had adopted them was undone: while they were persistent, their codes were made of their addresses, and somebody may have been told
 * them. Forgotten with the objects.
 */
final class ToldHashes {
    private static final Map<Key, Integer> CODES = new ConcurrentHashMap<>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();

    private ToldHashes() {}

    /** Which object it is, whatever its own equality is. */
    private static final class Key extends WeakReference<Object> {
        private final int hash;

        Key(Object object, ReferenceQueue<Object> queue) {
            super(object, queue);
            hash = System.identityHashCode(object);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            Object its = get();
            return this == other || its != null && other instanceof Key key && key.refersTo(its);
        }
    }

    static void keep(Object object, int code) {
        for (Reference<?> gone = GONE.poll(); gone != null; gone = GONE.poll()) {
            CODES.remove(gone);
        }
        CODES.put(new Key(object, GONE), code);
    }

    /** The code of an object for which one was kept. */
    static int of(Object object) {
        return CODES.get(new Key(object, null));
    }
}
