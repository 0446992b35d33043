package dev.norn.sas;

import dev.norn.sas.runtime.Session;

/**
 * Transactions of the calling thread: all changes of persistent objects, or none, durable when {@link #commit} returns. Isolation is strict two-phase locking per object.
 */
public final class Transaction {
    private Transaction() {}

    /** Begins; {@link #commit} or {@link #abort} has to follow in this thread. Waits while 48 transactions run in the store. */
    public static void begin() {
        Session.get().begin();
    }

    /**
     * Makes the changes durable; costs a sync of the log, which other transactions may share, if there are any.
     *
     * @throws StorageWriteFailure if they cannot be made durable
     * @throws TransactionConflict if a changed array cannot be locked; in both cases everything is undone
     */
    public static void commit() {
        Session.get().commit();
    }

    /** Undoes the changes. Objects created in it throw {@link ObjectDestroyed} from now on; those destroyed are back. */
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
     * Runs the action in a transaction: in the open one, or in one of its own, again after each {@link TransactionConflict} for up to 30 s. Any other exception undoes it, and
     * comes out as it is, a checked one too.
     */
    public static <X extends Exception> void run(Action<X> action) throws X {
        call(() -> {
            action.run();
            return null;
        });
    }

    /** As {@link #run}, with a result. */
    public static <T, X extends Exception> T call(Body<T, X> body) throws X {
        return Session.get().nested(() -> {
            try {
                return body.run();
            } catch (Exception e) {
                throw Constructors.sneak(e);
            }
        });
    }
}
