package dev.norn.sas.runtime;

import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Where a nested run began: what the thread had then beside the store, so that it has it again when the run is taken
 * back.
 */
final class Savepoint {
    /** The one that this is inside; null if there is none. */
    final Savepoint outer;
    /** The transaction that it is of. */
    long transactionNumber;
    /** How many handles had been let through for writing, objects had been adopted, and classes had got numbers. */
    int written;
    int temporaries;
    int newClasses;
    /** Of arrays in place, the blocks with images since the outer savepoint. */
    Map<InPlace, long[]> kept;
    /** @see ArrayCopies#snapshot */
    Object[] arrays;

    Savepoint(Savepoint outer) {
        this.outer = outer;
    }

    /** Takes note of the blocks of arrays, which have no images since this. */
    void takeBlocks(Iterable<InPlace> changed) {
        kept = null;
        for (InPlace array : changed) {
            if (kept == null) {
                kept = new IdentityHashMap<>();
            }
            kept.put(array, array.$sas$kept());
            array.$sas$kept(null);
        }
    }

    /** The blocks that had images since the outer savepoint; null if none had. */
    long[] blocksOf(InPlace array) {
        return kept == null ? null : kept.get(array);
    }

    /** These, and those that have got images since. */
    long[] allBlocksOf(InPlace array) {
        return union(blocksOf(array), array.$sas$kept());
    }

    private static long[] union(long[] a, long[] b) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        for (int i = 0; i < a.length; i++) {
            a[i] |= b[i];
        }
        return a;
    }
}
