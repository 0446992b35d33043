package dev.norn.sas;

import dev.norn.sas.runtime.References;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.runtime.Session;
import java.util.function.Supplier;

/** For classes whose methods are whole by themselves. */
public final class Transactions {
    private Transactions() {}

    /**
     * Runs the action in a transaction if the object is persistent, in the open one or in one of its own; else just
     * runs it.
     */
    public static <T> T within(Object object, Supplier<T> action) {
        return Factory.isPersistent(object) ? Session.get().within(action::get) : action.get();
    }

    /** As {@link #within}; what the action has done when it throws is taken back. */
    public static <T> T nested(Object object, Supplier<T> action) {
        return Factory.isPersistent(object) ? Session.get().nested(action::get) : action.get();
    }

    /**
     * The handle of the object that the running transaction uses; the object itself outside transactions, and if it is
     * temporary.
     */
    @SuppressWarnings("unchecked")
    public static <T> T running(T object) {
        SasObject its = Factory.isPersistent(object) ? References.holding((SasObject) object) : null;
        return its == null ? object : (T) its;
    }
}
