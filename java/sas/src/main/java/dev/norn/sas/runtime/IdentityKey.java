package dev.norn.sas.runtime;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/** Which object it is, whatever its own equality says: the key of a table that keeps no object alive. */
final class IdentityKey extends WeakReference<Object> {
    private final int hash;

    /** @param queue what gets the key when the object is gone; null for a key that is only looked up */
    IdentityKey(Object object, ReferenceQueue<Object> queue) {
        super(object, queue);
        hash = System.identityHashCode(object);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof IdentityKey key && get() != null && get() == key.get();
    }
}
