package dev.norn.sas.store;

import dev.norn.sas.ContainerException;
import dev.norn.sas.ObjectDestroyed;
import dev.norn.sas.runtime.References;
import dev.norn.sas.runtime.Session;
import java.util.List;

/** What the store's interface does in a transaction of the calling thread. */
public final class StoreWork {
    private StoreWork() {}

    private static Work work() {
        return Session.get().work();
    }

    public static Range createContainer(String name, long bytesMax) {
        if (bytesMax <= 0 || bytesMax > Memory.SPACE) {
            throw new ContainerException("container " + name + " would hold " + bytesMax + " bytes: from 1 to " + Memory.SPACE + " are possible");
        }
        return Directory.createContainer(work(), name, (bytesMax + Format.PAGE_BYTES - 1) / Format.PAGE_BYTES);
    }

    public static Range container(String name) {
        Directory.Entry entry = Directory.findLasting(work(), Directory.Kind.CONTAINER, name);
        if (entry == null) {
            throw new ContainerException("there is no container " + name);
        }
        return Directory.range(work().pool(), entry);
    }

    public static List<String> names(Directory.Kind kind) {
        return Directory.list(work(), kind).stream().map(Directory.Entry::name).sorted().toList();
    }

    public static Object root(String name) {
        Directory.Entry entry = Directory.find(work(), Directory.Kind.ROOT, name);
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

    public static void setRoot(String name, long reference) {
        if (reference != 0) {
            work().requireStorable(reference);
        }
        Directory.setRoot(work(), name, reference);
    }
}
