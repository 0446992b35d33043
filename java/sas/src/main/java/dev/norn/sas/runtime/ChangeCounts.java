package dev.norn.sas.runtime;

import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;

/**
 * How often a thread has changed the persistent collections that it iterates over, by reference. A count in the handle
 * is not enough for iterators that fail fast: outside transactions, each use of a field may make a new handle of the
 * collection, and the handle that is changed need not be the one that is iterated.
 *
 * <p>Only iterators keep the counts. A collection that no iterator is open on costs a look into a map at each change.
 */
public final class ChangeCounts {
    private static final ThreadLocal<ChangeCounts> CURRENT = ThreadLocal.withInitial(ChangeCounts::new);
    private static final int DROP_FIRST = 64;

    private final Map<Long, WeakReference<Count>> counts = new HashMap<>();
    /** At this number of counts, those that no iterator keeps are dropped. */
    private int dropAt = DROP_FIRST;

    /** The changes of one collection by one thread, through whichever handle. */
    public static final class Count {
        private long changes;

        public long changes() {
            return changes;
        }
    }

    private ChangeCounts() {}

    /** The running thread's. */
    public static ChangeCounts get() {
        return CURRENT.get();
    }

    /** The count of a collection, which continues while a caller keeps it. */
    public Count of(long reference) {
        Count count = kept(reference);
        if (count == null) {
            dropUnused();
            count = new Count();
            counts.put(reference, new WeakReference<>(count));
        }
        return count;
    }

    public void changed(long reference) {
        Count count = counts.isEmpty() ? null : kept(reference);
        if (count != null) {
            count.changes++;
        }
    }

    private Count kept(long reference) {
        WeakReference<Count> count = counts.get(reference);
        return count == null ? null : count.get();
    }

    private void dropUnused() {
        if (counts.size() >= dropAt) {
            counts.values().removeIf(count -> count.refersTo(null));
            dropAt = Math.max(DROP_FIRST, 2 * counts.size());
        }
    }
}
