package dev.norn.sas.runtime;

import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;

/**
 * What transformed code calls for a field of a persistent object that the running transaction does not hold yet, or not
 * through this handle. While a transaction holds an object, one handle's plain fields have its values, and transformed
 * code uses these without asking; they are saved at the commit.
 *
 * <p>All throw {@code ObjectDestroyed} if the object is gone, {@code TransactionConflict} on deadlock,
 * {@code ObjectAccessDenied} for a store into a read-only container, and {@code StorageReadFailure} where the mapping
 * has no storage.
 */
public final class Access {
    private Access() {}

    /**
     * The handle whose fields have the object's values: the transaction's, or outside transactions a new one with the
     * committed values.
     */
    public static SasObject reading(SasObject handle) {
        SasObject holding = Session.read(handle);
        return holding != null ? holding : snapshot(handle);
    }

    private static SasObject snapshot(SasObject handle) {
        long reference = handle.$sas$reference();
        SasObject snapshot = Classes.of(handle.getClass()).newHandle(reference);
        return Committed.read(reference, () -> {
            snapshot.$sas$load(Format.offsetOf(reference));
            return snapshot;
        });
    }

    /**
     * The handle into whose fields the running transaction may store. Outside transactions, it begins one, which
     * {@link #written} ends.
     */
    public static SasObject writing(SasObject handle) {
        SasObject holding = Session.write(handle);
        return holding != null ? holding : Session.get().beginAlone(handle);
    }

    /** Called after the store for which {@link #writing} was called. */
    public static void written() {
        Session.get().endAlone();
    }

    /** Whether the running transaction may store into the fields of this handle. */
    static boolean isWritable(SasObject handle) {
        return handle.$sas$holder() == Thread.currentThread() && handle.$sas$isWritable();
    }

    static long word(long reference, int offset) {
        return Memory.getLong(Format.offsetOf(reference) + offset);
    }
}
