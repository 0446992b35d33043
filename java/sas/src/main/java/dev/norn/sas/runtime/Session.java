package dev.norn.sas.runtime;

import dev.norn.sas.SASException;
import dev.norn.sas.Store;
import dev.norn.sas.store.Format;
import dev.norn.sas.store.Memory;
import dev.norn.sas.store.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** A thread's transaction: its work on the store, the grants that handles show, the copies of arrays, and the handles that it made. */
public final class Session {
    private static final ThreadLocal<Session> CURRENT = ThreadLocal.withInitial(Session::new);

    private Store store;
    private Work work;
    private Grant read;
    private Grant write;
    private final ArrayCopies arrays = new ArrayCopies(this);
    private final List<Runnable> onAbort = new ArrayList<>();

    private Session() {}

    /** The thread's session, in a transaction or not. */
    public static Session get() {
        return CURRENT.get();
    }

    public boolean isActive() {
        return work != null && work.isActive();
    }

    /** @throws SASException if a transaction is open in this thread, or no store */
    public void begin() {
        if (isActive()) {
            throw new SASException("this thread has begun a transaction already");
        }
        Store current = Store.current();
        if (current != store) {
            store = current;
            work = new Work(current.pool());
        }
        work.begin();
        grant();
    }

    private void grant() {
        read = new Grant();
        read.reader = Thread.currentThread();
        write = new Grant();
        write.reader = read.reader;
        write.writer = read.reader;
    }

    /** Makes every handle ask again: an object that some of them may still show a grant for is gone. */
    void renewGrants() {
        endGrants();
        grant();
    }

    /** Commits; when that fails, everything is undone. */
    public void commit() {
        requireActive();
        try {
            arrays.writeBack();
        } catch (RuntimeException e) {
            abort();
            throw e;
        }
        try {
            work.commit();
        } catch (RuntimeException e) {
            afterAbort();
            throw e;
        } finally {
            endGrants();
        }
        arrays.end();
        onAbort.clear();
    }

    public void abort() {
        requireActive();
        endGrants();
        work.abort();
        afterAbort();
    }

    private void afterAbort() {
        arrays.restore();
        onAbort.forEach(Runnable::run);
        onAbort.clear();
    }

    private void endGrants() {
        read.end();
        write.end();
    }

    private void requireActive() {
        if (!isActive()) {
            throw new SASException("this thread has begun no transaction");
        }
    }

    /** Runs the action in the open transaction, or in one of its own. */
    public <T> T within(Supplier<T> action) {
        if (isActive()) {
            return action.get();
        }
        return dev.norn.sas.Transaction.call(action);
    }

    /** To be done if the transaction is undone. */
    void onAbort(Runnable action) {
        onAbort.add(action);
    }

    /** The work on the store. In a transaction. */
    public Work work() {
        requireActive();
        return work;
    }

    Store store() {
        return store;
    }

    ArrayCopies arrays() {
        return arrays;
    }

    Grant writeGrant() {
        return write;
    }

    /** Locks the object for reading, and lets the handle through; false outside transactions. */
    static boolean read(SasObject handle) {
        Session session = CURRENT.get();
        if (!session.isActive()) {
            return false;
        }
        long reference = handle.$sas$reference();
        session.work.lockShared(reference);
        handle.$sas$grant(session.work.isExclusive(reference) ? session.write : session.read);
        return true;
    }

    /** Locks the object for writing, and lets the handle through; false outside transactions. */
    static boolean write(SasObject handle) {
        Session session = CURRENT.get();
        if (!session.isActive()) {
            return false;
        }
        session.work.lockExclusive(handle.$sas$reference());
        handle.$sas$grant(session.write);
        return true;
    }

    /** Reads committed values of an object outside transactions: again, until no writer came between. */
    static <T> T readCommitted(long reference, Supplier<T> reading) {
        var pool = Store.current().pool();
        long offset = Format.offsetOf(reference);
        for (;;) {
            long quiet = pool.quiet(reference);
            T value = reading.get();
            if (pool.isStill(offset, quiet)) {
                return value;
            }
        }
    }

    /** The same for a word. */
    static long readCommittedWord(long reference, int offset, int bytes) {
        var pool = Store.current().pool();
        long object = Format.offsetOf(reference);
        for (;;) {
            long quiet = pool.quiet(reference);
            long value = switch (bytes) {
                case 1 -> Memory.getByte(object + offset);
                case 2 -> Memory.getShort(object + offset);
                case 4 -> Memory.getInt(object + offset);
                default -> Memory.getLong(object + offset);
            };
            if (pool.isStill(object, quiet)) {
                return value;
            }
        }
    }
}
