package dev.norn.sas.runtime;

import dev.norn.sas.exception.StoreClosed;
import dev.norn.sas.store.transaction.AttachedStore;

/**
 * The store that this JVM is attached to, and what the runtime does with temporary objects that its persistent ones
 * get. Handles, and what is known of classes, last as long as it is open.
 */
public final class CurrentStore {
    private static volatile AttachedStore store;
    private static volatile TemporaryTargets targets;

    private CurrentStore() {}

    /**
     * What becomes of a temporary object of which a reference is stored into a persistent one.
     *
     * @see References#adopt
     * @see References#refuse
     * @see References#keepTemporary
     */
    @FunctionalInterface
    public interface TemporaryTargets {
        /** The word to store into the owner's field at this offset. */
        long word(Object value, SasObject owner, int offset);
    }

    /** From now on, handles are those of this store. */
    public static void open(AttachedStore opened, TemporaryTargets what) {
        References.begin();
        Nobody.renew();
        targets = what;
        store = opened;
    }

    /** The store was closed: forgets all that is known of it. */
    public static void forget() {
        store = null;
        Nobody.renew();
        Classes.clear();
        Temporaries.clear();
        StrayArrays.clear();
    }

    /** @throws StoreClosed if there is none */
    public static AttachedStore get() {
        AttachedStore its = store;
        if (its == null) {
            throw new StoreClosed("this JVM is attached to no store: Store.open(path) does it");
        }
        return its;
    }

    public static boolean isOpen() {
        return store != null;
    }

    static long wordOfTemporary(Object value, SasObject owner, int offset) {
        return targets.word(value, owner, offset);
    }
}
