package dev.norn.sas.runtime;

import dev.norn.sas.exception.StoreClosed;

/**
 * Holds the handles that no transaction holds. It is another one each time that a store is opened or closed, so that
 * the handles of a store that was closed are known: their references would name objects of the next one.
 */
public final class Nobody extends Thread {
    private static volatile Nobody current = new Nobody();

    private Nobody() {}

    /** The holder of new handles, and of those that a transaction leaves. */
    public static Thread get() {
        return current;
    }

    /** A store is opened, or closed. */
    static void renew() {
        current = new Nobody();
    }

    /** Whether the handle is one of a store that was closed. */
    public static boolean isOfClosedStore(SasObject handle) {
        return handle.$sas$holder() instanceof Nobody holder && holder != current;
    }

    /** @throws StoreClosed if the handle is one of a store that was closed */
    public static void requireOpenStore(SasObject handle) {
        if (isOfClosedStore(handle)) {
            throw new StoreClosed("the " + handle.getClass().getName()
                    + " is a handle of a store that was closed: ask the open store for the object, by a root");
        }
    }
}
