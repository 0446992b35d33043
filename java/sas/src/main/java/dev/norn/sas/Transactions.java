package dev.norn.sas;

import java.util.function.Supplier;

/** For classes whose methods are whole by themselves. */
public final class Transactions {
    private Transactions() {}

    /** Runs the action in a transaction if the object is persistent, in the open one or in one of its own; else just runs it. */
    public static <T> T within(Object object, Supplier<T> action) {
        return Factory.isPersistent(object) ? Transaction.call(action) : action.get();
    }
}
