package dev.norn.sas.runtime;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The identity hash codes of objects that were made temporary again, when the transaction that had adopted them was
 * undone. While they were persistent, their codes were computed from their addresses, and the program may have got
 * them. A code is forgotten with its object.
 */
final class ToldHashes {
    private static final Map<IdentityKey, Integer> CODES = new ConcurrentHashMap<>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();

    private ToldHashes() {}

    static void keep(Object object, int code) {
        for (Reference<?> gone = GONE.poll(); gone != null; gone = GONE.poll()) {
            CODES.remove(gone);
        }
        CODES.put(new IdentityKey(object, GONE), code);
    }

    /** The code of an object for which one was kept. */
    static int of(Object object) {
        return CODES.get(new IdentityKey(object, null));
    }
}
