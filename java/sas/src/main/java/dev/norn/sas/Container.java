package dev.norn.sas;

import dev.norn.sas.exception.StoreClosed;
import dev.norn.sas.store.heap.Range;

/**
 * Where persistent objects are placed: a heap with a limit and its own file (section 2.4). Two containers are
 * equal if they are the same one.
 */
public final class Container {
    private final Range range;
    private final Store store = Store.current();

    Container(Range range) {
        this.range = range;
    }

    /** @throws StoreClosed if its store was closed */
    Range range() {
        if (Store.current() != store) {
            throw new StoreClosed("container " + range.name
                    + " is of a store that was closed: ask the open store for it");
        }
        return range;
    }

    public String name() {
        return range.name;
    }

    /** Its maximum size in bytes. */
    public long bytesMax() {
        return range.bytesMax();
    }

    /** Its present size in bytes: pages that hold or held objects. */
    public long bytesUsed() {
        return range().bytesUsed();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Container container && container.range.id == range.id;
    }

    @Override
    public int hashCode() {
        return range.id;
    }

    @Override
    public String toString() {
        return "container " + range.name;
    }
}
