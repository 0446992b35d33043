package dev.norn.sas;

import dev.norn.sas.runtime.Session;

/**
 * Transactions of the calling thread: all changes of persistent objects, or none, durable when {@link #commit} returns.
 * Isolation is strict two-phase locking per object.
 */
public final class Transaction {
    private Transaction() {}

    /**
     * Begins; {@link #commit} or {@link #abort} has to follow in this thread. Waits while 48 transactions run in the
     * store.
     */
    public static void begin() {
        Session.get().begin();
    }

    /**
     * Makes the changes durable; costs a sync of the log, which other transactions may share, if there are any.
     *
     * @throws StorageWriteFailure if they cannot be written to the log: everything is undone then. Or if a sync fails:
     *     the store takes no more changes then, and its next start decides whether the transaction was committed
     * @throws TransactionConflict if a changed array cannot be locked: everything is undone then
     */
    public static void commit() {
        Session.get().commit();
    }

    /**
     * Undoes the changes. Objects created in it throw {@link ObjectDestroyed} from now on; those destroyed are back.
     * What was adopted is temporary again: an object with the fields that it had before, an array with the elements
     * that it has.
     */
    public static void abort() {
        Session.get().abort();
    }

    /** Whether this thread has begun one. */
    public static boolean isActive() {
        return Session.get().isActive();
    }

    /** What a transaction does, with a result. */
    @FunctionalInterface
    public interface Body<T, X extends Exception> {
        T run() throws X;
    }

    /** What a transaction does. */
    @FunctionalInterface
    public interface Action<X extends Exception> {
        void run() throws X;
    }

    /**
     * Runs the action in a transaction of its own, again after each {@link TransactionConflict} for up to 30 s. Any
     * other exception undoes it, and comes out as it is, a checked one too.
     *
     * <p>In an open transaction, the action is a part of that one. If it throws, what it did is taken back, its stores,
     * and what it created, destroyed and adopted; what went before stays, and the transaction may go on. Locks are kept
     * to the transaction's end. A part that was committed by waiting stays. Costs a visit to each handle that was
     * written since the transaction, or the last such part, began, and a copy of each Java array that the transaction
     * uses; then an image, in memory, of each object that is changed again.
     */
    public static <X extends Exception> void run(Action<X> action) throws X {
        call(() -> {
            action.run();
            return null;
        });
    }

    /** As {@link #run}, with a result. */
    public static <T, X extends Exception> T call(Body<T, X> body) throws X {
        return Session.get().nested(body);
    }
}
