package dev.norn.crash.program;

import dev.norn.crash.model.Register;
import dev.norn.crash.model.Registers;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.exception.SASException;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** A child's store, which may be closed and opened again while its threads use it. */
final class Attachment {
    /** A store and the running thread's handles. */
    record Use(Store store, Register[] registers) {}

    /**
     * How often a thread looks whether the store is open again. It leaves the processor to the thread that opens it.
     */
    private static final long LOOK_NANOS = 100_000;

    private final Path directory;
    private final ThreadLocal<Use> uses = new ThreadLocal<>();
    private volatile Store store;
    private volatile long closings;
    private final ThreadLocal<Long> closingsSeen = ThreadLocal.withInitial(() -> 0L);

    Attachment(Path directory) {
        this.directory = directory;
        store = Store.open(directory, SubObjects.ADOPT);
    }

    /** The store, and this thread's handles; waits while it is closed. */
    Use use() {
        // In this order: a store that is found open now was opened after all closings that are seen.
        long seen = closings;
        Store now = store;
        while (now == null) {
            LockSupport.parkNanos(LOOK_NANOS);
            seen = closings;
            now = store;
        }
        Use use = uses.get();
        if (use == null || use.store != now) {
            closingsSeen.set(seen);
            use = new Use(now, Registers.of(now));
            uses.set(use);
        }
        return use;
    }

    /**
     * Closes the store while threads use it, and opens it again. A store that a transaction keeps open, which is
     * starved of the processor or waits for a stopped process, stays as it is, and one that was closed for good closed.
     */
    void reopen() {
        Store old = store;
        if (old == null) {
            return;
        }
        store = null;
        closings++;
        try {
            old.close();
        } catch (SASException e) {
            if (!e.getMessage().contains("stays open")) {
                throw e;
            }
            System.err.println(e.getMessage());
            store = old;
            return;
        }
        store = Store.open(directory, SubObjects.ADOPT);
    }

    /** Whether a thread got an exception because of a closing. */
    boolean hasClosed(Throwable e) {
        return e instanceof SASException && closingsSeen.get() != closings;
    }

    /** Closes the store for good. */
    void close() {
        store.close();
        store = null;
    }
}
