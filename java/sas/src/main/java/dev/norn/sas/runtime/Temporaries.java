package dev.norn.sas.runtime;

import dev.norn.sas.exception.TemporaryReference;
import dev.norn.sas.store.memory.Format;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Temporary objects that persistent fields refer to. A field's word has a number of the object and one of the JVM's
 * attachment. The objects are kept alive until the store is closed.
 */
public final class Temporaries {
    private static final List<Object> OBJECTS = new ArrayList<>();
    private static final Map<Object, Integer> NUMBERS = new IdentityHashMap<>();
    /** Classes of objects of which one was stored already. */
    private static final Set<Class<?>> WARNED = new HashSet<>();
    private static final int INCARNATION_SHIFT = 32;

    private Temporaries() {}

    /** @param description what is stored where */
    static synchronized long put(Object object, Supplier<String> description) {
        if (WARNED.add(object.getClass())) {
            System.err.println("sas: " + description.get() + " stays temporary, and is lost when the store is closed. "
                    + "Create it with Factory.newInstanceNear, or open the store with SubObjects.ADOPT");
        }
        int number = NUMBERS.computeIfAbsent(object, key -> {
            OBJECTS.add(key);
            return OBJECTS.size() - 1;
        });
        return CurrentStore.get().incarnation() << INCARNATION_SHIFT | (long) number << 4 | Format.TAG_TEMPORARY;
    }

    static synchronized Object get(long word, SasObject owner, int offset) {
        if (word >>> INCARNATION_SHIFT != CurrentStore.get().incarnation()) {
            throw new TemporaryReference("field " + Classes.of(owner.getClass()).fieldAt(offset) + " of "
                    + owner.getClass().getName() + " refers to a temporary object of another JVM or of an earlier run, "
                    + "and that object is not in the store. Set the field again, and create the object that "
                    + "it refers to with Factory.newInstanceNear; or open the store with SubObjects.ADOPT, which makes "
                    + "such objects persistent, or STRICT, which refuses them");
        }
        return OBJECTS.get((int) (word & 0xFFFF_FFFFL) >>> 4);
    }

    /** Forgets all, when the store is closed. */
    public static synchronized void clear() {
        OBJECTS.clear();
        NUMBERS.clear();
        WARNED.clear();
    }
}
