package dev.norn.sas.runtime;

import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.OutcomeUnknown;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.transaction.AttachedStore;
import java.util.function.Supplier;

/**
 * What the program gets outside transactions: committed values, which are read without locks, and the reason why a
 * transaction was undone.
 */
final class Committed {
    private Committed() {}

    /**
     * What a read gives, or null if it fails because a writer came between: a value that was freed meanwhile may be
     * anything.
     */
    private static <T> T attempt(AttachedStore store, Supplier<T> reading, long reference, long quiet) {
        try {
            return reading.get();
        } catch (RuntimeException e) {
            if (store.isStill(reference, quiet)) {
                throw e;
            }
            return null;
        }
    }

    /**
     * Reads committed values of an object outside transactions: again, until no writer came between.
     *
     * @throws dev.norn.sas.exception.StoreClosed if another thread has closed the store meanwhile: what was read may be
     *     anything then
     */
    static <T> T read(long reference, Supplier<T> reading) {
        AttachedStore store = CurrentStore.get();
        try {
            T value = readQuietly(store, reference, reading);
            store.awaitDurable(reference);
            store.requireAttached();
            return value;
        } catch (InternalError e) {
            throw unreadable(reference, e);
        } catch (ObjectDestroyed e) {
            store.requireAttached();
            store.awaitDurable();
            throw e;
        } catch (RuntimeException e) {
            store.requireAttached();
            throw e;
        }
    }

    private static <T> T readQuietly(AttachedStore store, long reference, Supplier<T> reading) {
        for (;;) {
            long unsynced = store.unsynced(reference);
            long quiet = store.quiet(reference);
            T value = attempt(store, reading, reference, quiet);
            // The count of changes is the same again after 16,384 of them, the other number is not.
            if (store.isStill(reference, quiet) && store.unsynced(reference) == unsynced) {
                return value;
            }
        }
    }

    /** An exception may report what other transactions have done. It is thrown only when that is durable. */
    static void awaitReasons(AttachedStore store, Throwable e) {
        try {
            store.awaitDurable();
        } catch (StorageWriteFailure failure) {
            if (e instanceof StorageWriteFailure || e instanceof OutcomeUnknown) {
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
        return new StorageReadFailure("no storage for the object at " + Long.toHexString(Format.offsetOf(reference))
                + ": was the pool of " + CurrentStore.get() + " cut off?", cause);
    }
}
