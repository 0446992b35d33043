package dev.norn.sas;

import dev.norn.sas.runtime.ChangeCounts;
import dev.norn.sas.runtime.References;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.runtime.SnapshotReads;
import java.util.function.Supplier;

/** For classes whose methods are each atomic. */
public final class Transactions {
    private Transactions() {}

    /**
     * If the object is persistent, runs the action in the open transaction or in one of its own; else only runs it.
     */
    public static <T> T within(Object object, Supplier<T> action) {
        return Factory.isPersistent(object) ? Session.get().within(action::get) : action.get();
    }

    /** As {@link #within}; if the action throws, its changes are undone. */
    public static <T> T nested(Object object, Supplier<T> action) {
        return Factory.isPersistent(object) ? Session.get().nested(action::get) : action.get();
    }

    /**
     * The handle of the object in the running transaction. Outside transactions, and for a temporary object, the object
     * itself.
     */
    @SuppressWarnings("unchecked")
    public static <T> T running(T object) {
        if (SnapshotReads.isActive()) {
            return object;
        }
        SasObject its = Factory.isPersistent(object) ? References.holding((SasObject) object) : null;
        return its == null ? object : (T) its;
    }

    /**
     * Counts the changes of a persistent collection that this thread reports by {@link #changed}, through whichever
     * handle. The count of a temporary one stays as it is.
     */
    public static ChangeCounts.Count changes(Object collection) {
        return Factory.isPersistent(collection) ? ChangeCounts.get().of(((SasObject) collection).$sas$reference())
                : new ChangeCounts.Count();
    }

    /** Says that an element came or went, so that iterators notice it. */
    public static void changed(Object collection) {
        if (Factory.isPersistent(collection)) {
            ChangeCounts.get().changed(((SasObject) collection).$sas$reference());
        }
    }
}
