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
    /** What a list is. */
    private enum Form {
        WHOLE, PARTED, PERSISTABLE
    }

    private static Form form = Form.WHOLE;

    private Lists() {}

    /**
     * Collections that can become persistent with the objects that hold them, from now on; before, those of the JDK.
     */
    public static void makePersistable() {
        form = Form.PERSISTABLE;
    }

    /** Lists of which a part can be stored, from now on. */
    public static void makeParted() {
        form = Form.PARTED;
    }

    static <E> List<E> list() {
        return switch (form) {
            case WHOLE -> new ArrayList<>();
            case PARTED -> new PartedList<>();
            case PERSISTABLE -> new SasList<>();
        };
    }

    static <K, V> Map<K, V> map() {
        return form == Form.PERSISTABLE ? new SasMap<>() : new HashMap<>();
    }

    /** What {@code delete} would be: persistent objects are destroyed, others left to the collector. */
    static void discard(Object object) {
        if (Factory.isPersistent(object)) {
            Factory.destroyInstance(object);
        }
    }
}
