package dev.norn.sas;

import dev.norn.sas.exception.ContainerException;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.runtime.References;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.runtime.SnapshotReads;
import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.Directory;
import dev.norn.sas.store.transaction.Snapshot;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.util.List;

/** What the store's interface does in a transaction of the calling thread. */
final class StoreWork {
    private StoreWork() {}

    private static StoreTransaction transaction() {
        return Session.get().transaction();
    }

    static Range createContainer(String name, long bytesMax) {
        if (bytesMax <= 0 || bytesMax > Memory.SPACE) {
            throw new ContainerException("container " + name + " would hold " + bytesMax + " bytes: from 1 to "
                    + Memory.SPACE + " are possible");
        }
        return Directory.createContainer(transaction(), name, (bytesMax + Format.PAGE_BYTES - 1) / Format.PAGE_BYTES);
    }

    static Range container(String name) {
        Snapshot snapshot = SnapshotReads.running();
        DirectoryEntry entry = snapshot != null ? snapshot.entry(DirectoryEntry.Kind.CONTAINER, name)
                : Directory.findLasting(transaction(), DirectoryEntry.Kind.CONTAINER, name);
        if (entry == null) {
            throw new ContainerException("there is no container " + name);
        }
        return Directory.range(Store.current().attached(), entry);
    }

    static List<String> names(DirectoryEntry.Kind kind) {
        Snapshot snapshot = SnapshotReads.running();
        var entries = snapshot != null ? snapshot.entries(kind) : Directory.list(transaction(), kind);
        return entries.stream().map(DirectoryEntry::name).sorted().toList();
    }

    static Object root(String name) {
        Snapshot snapshot = SnapshotReads.running();
        DirectoryEntry entry = snapshot != null ? snapshot.entry(DirectoryEntry.Kind.ROOT, name)
                : Directory.find(transaction(), DirectoryEntry.Kind.ROOT, name);
        if (entry == null) {
            return null;
        }
        try {
            return References.load(entry.first(), null, 0);
        } catch (ObjectDestroyed e) {
            throw new ObjectDestroyed("root " + name + ": " + e.getMessage() + "; setRoot(\"" + name + "\", null) "
                    + "removes the name", e);
        }
    }

    static void setRoot(String name, long reference) {
        if (reference != 0) {
            transaction().requireStorable(reference);
        }
        Directory.setRoot(transaction(), name, reference);
    }
}
