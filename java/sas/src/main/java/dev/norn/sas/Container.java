package dev.norn.sas;

import dev.norn.sas.exception.ObjectAccessDenied;
import dev.norn.sas.exception.StoreClosed;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.transaction.DestroyRecords;
import dev.norn.sas.store.transaction.DestroyRule;

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

    /**
     * From now on, whatever is destroyed here is recorded: what, when, by whom, and why. {@link Store#destroys} returns
     * the records, `sas destroys` prints them and moves them to a file. They are in the container {@code destroys}, of
     * 64 MB unless the program has made it before; when it is full, nothing more is destroyed. Where that container
     * forbids destroys, records stay for ever. This cannot be taken back. Each destroy then makes an object of some 150
     * bytes, too.
     */
    public void recordDestroys() {
        restrict(DestroyRule.RECORDED);
    }

    /** From now on, nothing here is destroyed: that throws {@link ObjectAccessDenied}. This cannot be taken back. */
    public void forbidDestroys() {
        restrict(DestroyRule.FORBIDDEN);
    }

    private void restrict(DestroyRule rule) {
        Session.get().nested(() -> {
            DestroyRecords.restrict(Session.get().transaction(), range(), rule);
            return null;
        });
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
