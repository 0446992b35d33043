package dev.norn.sas.runtime;

import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Of arrays in place that a transaction changes, the blocks of which the undo stream has images, or that need none.
 */
final class ChangedBlocks {
    private final Map<InPlace, long[]> logged = new IdentityHashMap<>();

    /**
     * The array is changed for the first time, or for the first time after a savepoint; these of its blocks need no
     * images.
     */
    void add(InPlace array, long[] blocks) {
        logged.putIfAbsent(array, blocks);
        array.$sas$kept(blocks);
    }

    /** The array is new: its allocation is undone and logged as a whole. */
    void addAll(InPlace array) {
        logged.put(array, InPlace.blocks(array.$sas$bytes(), -1));
    }

    /** The blocks of which the undo stream has images, or that need none; null if the array is not changed. */
    long[] of(InPlace array) {
        return logged.get(array);
    }

    void forget(Object array) {
        logged.remove(array);
    }

    /** The transaction leaves its handles. */
    void clear() {
        if (!logged.isEmpty()) {
            logged.keySet().forEach(array -> array.$sas$kept(null));
            logged.clear();
        }
    }

    void open(Savepoint its) {
        its.takeBlocks(logged.keySet());
    }

    /** What came after the savepoint stays. */
    void release(Savepoint its) {
        logged.forEach((array, blocks) -> array.$sas$kept(its.outer == null ? blocks : its.allBlocksOf(array)));
    }

    /** What came after the savepoint is taken back. */
    void restore(Savepoint its) {
        logged.forEach((array, blocks) -> array.$sas$kept(its.outer == null ? blocks : its.blocksOf(array)));
    }
}
