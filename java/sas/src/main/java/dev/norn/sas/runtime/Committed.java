package dev.norn.sas.runtime;

import dev.norn.sas.ObjectDestroyed;
import dev.norn.sas.StorageReadFailure;
import dev.norn.sas.StorageWriteFailure;
import dev.norn.sas.Store;
import dev.norn.sas.store.Format;
import dev.norn.sas.store.Pool;
import java.util.function.Supplier;

/** What is told outside transactions: committed values, which are read without locks, and why one was undone. */
final class Committed {
    private Committed() {}

    /**
     * What a read gives, or null if it fails because a writer came between: a value that was freed meanwhile may be
     * anything.
     */
    private static <T> T attempt(Pool pool, Supplier<T> reading, long reference, long quiet) {
        try {
            return reading.get();
        } catch (RuntimeException e) {
            if (pool.isStill(reference, quiet)) {
                throw e;
            }
            return null;
        }
    }

    /**
     * Reads committed values of an object outside transactions: again, until no writer came between.
     *
     * @throws dev.norn.sas.StoreClosed if another thread has closed the store meanwhile: what was read may be anything
     *     then
     */
    static <T> T read(long reference, Supplier<T> reading) {
        Pool pool = Store.current().pool();
        try {
            T value = readQuietly(pool, reference, reading);
            pool.awaitDurable(reference);
            pool.requireAttached();
            return value;
        } catch (InternalError e) {
            throw unreadable(reference, e);
        } catch (ObjectDestroyed e) {
            pool.requireAttached();
            pool.awaitDurable();
            throw e;
        } catch (RuntimeException e) {
            pool.requireAttached();
            throw e;
        }
    }

    private static <T> T readQuietly(Pool pool, long reference, Supplier<T> reading) {
        for (;;) {
            long unsynced = pool.unsynced(reference);
            long quiet = pool.quiet(reference);
            T value = attempt(pool, reading, reference, quiet);
            // The count of changes is the same again after 16,384 of them, the other number is not.
            if (pool.isStill(reference, quiet) && pool.unsynced(reference) == unsynced) {
                return value;
            }
        }
    }

    /** An exception may report what other transactions have done. It is thrown only when that is durable. */
    static void awaitReasons(Pool pool, Throwable e) {
        try {
            pool.awaitDurable();
        } catch (StorageWriteFailure failure) {
            if (e instanceof StorageWriteFailure) {
                return;
            }
            failure.addSuppressed(e);
            throw failure;
        } catch (RuntimeException other) {
            e.addSuppressed(other);
        }
    }

    /** What becomes of a fault in the mapping. */
    static StorageReadFailure unreadable(long reference, InternalError cause) {
        return new StorageReadFailure("no storage for the object at " + Long.toHexString(Format.offsetOf(reference)) + ": was the pool of "
                + Store.current() + " cut off?", cause);
    }
}
