package dev.norn.bobc.model;

import dev.norn.sas.Factory;
import dev.norn.sas.util.SasList;
import dev.norn.sas.util.SasMap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Where the entities' collections come from: the only place that knows whether they may become persistent. */
public final class Lists {
    private static boolean arePersistable;

    private Lists() {}

    /** Collections that can become persistent with the objects that hold them, from now on; before, those of the JDK. */
    public static void makePersistable() {
        arePersistable = true;
    }

    static <E> List<E> list() {
        return arePersistable ? new SasList<>() : new ArrayList<>();
    }

    static <K, V> Map<K, V> map() {
        return arePersistable ? new SasMap<>() : new HashMap<>();
    }

    /** What {@code delete} would be: persistent objects are destroyed, others left to the collector. */
    static void discard(Object object) {
        if (Factory.isPersistent(object)) {
            Factory.destroyInstance(object);
        }
    }
}
