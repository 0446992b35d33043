package dev.norn.sas;

import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.SnapshotTooOld;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.exception.TransactionConflict;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.runtime.SnapshotReads;
import java.util.Objects;

/**
 * Transactions of the calling thread: atomic changes of persistent objects, which are durable when {@link #commit}
 * returns. Isolation is strict two-phase locking per object.
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
     * Makes the changes durable; if there are any, this costs a sync of the log, which other transactions may share.
     *
     * @throws StorageWriteFailure if they cannot be written to the log: everything is undone then. Or if a sync fails:
     *     the store takes no more changes then, and its next start decides whether the transaction was committed
     * @throws TransactionConflict if a changed array cannot be locked: everything is undone then
     */
    public static void commit() {
        Session.get().commit();
    }

    /**
     * Undoes the changes. Objects created in it throw {@link ObjectDestroyed} from now on; objects destroyed in it
     * exist again. Adopted objects are temporary again: objects with their earlier fields, arrays with their present
     * elements.
     */
    public static void abort() {
        Session.get().abort();
    }

    /** Whether this thread has begun a transaction, also a read-only one. */
    public static boolean isActive() {
        return Session.get().isActive() || SnapshotReads.isActive();
    }

    /** The body of a transaction, with a result. */
    @FunctionalInterface
    public interface Body<T, X extends Exception> extends dev.norn.sas.runtime.Body<T, X> {}

    /** The body of a transaction. */
    @FunctionalInterface
    public interface Action<X extends Exception> {
        void run() throws X;
    }

    /**
     * Runs the action in a transaction of its own. After a {@link TransactionConflict} it runs again, for up to 30 s.
     * Any other exception undoes the transaction and is thrown unchanged, also a checked one.
     *
     * <p>In an open transaction, the action is a part of that one. If it throws, its own changes are undone: stores,
     * creations, destructions and adoptions. Earlier changes stay, and the transaction may continue. Locks are kept to
     * the transaction's end. A part that was committed by waiting stays. Cost: a visit to each handle that was written
     * since the transaction, or the last such part, began; a copy of each Java array that the transaction uses; and an
     * image in memory of each object that is changed again.
     */
    public static <X extends Exception> void run(Action<X> action) throws X {
        Objects.requireNonNull(action, "the action is null");
        call(() -> {
            action.run();
            return null;
        });
    }

    /**
     * Runs the body in a read-only transaction: it sees what is committed when it begins, to its end, whatever others
     * commit. It takes no locks and no place among the 48 transactions that run. It waits for no other transaction, and
     * none waits for it; at its end, it waits for a sync that is under way of what it has seen. What would change the
     * store throws {@link SASException}; {@code Transaction.run} in it is a part of it. Inside an open transaction, the
     * body is a part of that one, with its locks.
     *
     * <p>Cost: a copy of each object that it uses, and a look into a table for each access. While one runs in any
     * program, each commit keeps a copy of what it changes, in a ring of 256 MB in the pool.
     *
     * @throws SnapshotTooOld if others have changed more than the ring keeps since this began
     */
    public static <T, X extends Exception> T read(Body<T, X> body) throws X {
        return SnapshotReads.run(Objects.requireNonNull(body, "the body is null"));
    }

    /** As {@link #run}, with a result. */
    public static <T, X extends Exception> T call(Body<T, X> body) throws X {
        return Session.get().nested(Objects.requireNonNull(body, "the body is null"));
    }
}
