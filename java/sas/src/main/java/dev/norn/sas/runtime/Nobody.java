package dev.norn.sas.runtime;

import dev.norn.sas.exception.StoreClosed;

/**
 * Holds the handles that no transaction holds. It is another one each time that a store is opened or closed, so that
 * the handles of a store that was closed are known: their references would name objects of the next one. A transaction
 * that made many objects leaves their handles to one of its own.
 */
public final class Nobody extends Thread {
    private static volatile Nobody current = new Nobody(null);

    /** The one that the store was opened with, if this is another one. */
    private final Nobody ofStore;
    /** Whether the transaction that has left its handles to this one is committed. */
    private volatile boolean isCommitted;

    private Nobody(Nobody ofStore) {
        // Without what a thread that runs inherits.
        super(null, null, "nobody", 0, false);
        this.ofStore = ofStore;
    }

    /** The holder of new handles, and of those that a transaction leaves. */
    public static Thread get() {
        return current;
    }

    /** The holder of handles that one transaction leaves, so that it is known of them when that is committed. */
    static Nobody ofTransaction() {
        return new Nobody(current);
    }

    /** The transaction is committed, and durable. */
    void isNowCommitted() {
        isCommitted = true;
    }

    /**
     * Whether it is known that the handle's object was made by a transaction that is committed. It may have been
     * destroyed since. False says nothing.
     */
    static boolean isOfCommitted(SasObject handle) {
        return handle.$sas$holder() instanceof Nobody holder && holder.isCommitted;
    }

    /** A store is opened, or closed. */
    static void renew() {
        current = new Nobody(null);
    }

    /** Whether the handle is one of a store that was closed. */
    public static boolean isOfClosedStore(SasObject handle) {
        // The holder of nearly all handles is compared first, which costs no look at its class.
        Thread holder = handle.$sas$holder();
        return holder != current && holder instanceof Nobody nobody && nobody.ofStore != current;
    }

    /** @throws StoreClosed if the handle is one of a store that was closed */
    public static void requireOpenStore(SasObject handle) {
        if (isOfClosedStore(handle)) {
            throw new StoreClosed("the " + handle.getClass().getName()
                    + " is a handle of a store that was closed: ask the open store for the object, by a root");
        }
    }
}
