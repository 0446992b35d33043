package dev.norn.sas.runtime;

import dev.norn.sas.exception.ClassChanged;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Objects that every JVM has one of, in a static final field: a class's only instance, say, or a mark for the end of a
 * list. A persistent field that refers to one holds the name of the static field, as statics are not shared. Were such
 * an object made persistent, all its users in this JVM would have a persistent one.
 *
 * <p>Known as constants are those in fields of the object's class and of the class of the object that refers to it, and
 * of classes above and around these.
 */
final class Constants {
    private static final ClassValue<Map<Object, String>> OF_CLASS = new ClassValue<>() {
        @Override
        protected Map<Object, String> computeValue(Class<?> type) {
            return read(type);
        }
    };

    private static final ClassValue<Map<Object, String>> KNOWN_TO = new ClassValue<>() {
        @Override
        protected Map<Object, String> computeValue(Class<?> type) {
            return collect(type);
        }
    };

    private Constants() {}

    private static Map<Object, String> read(Class<?> type) {
        Map<Object, String> names = new IdentityHashMap<>();
        // Module boundaries hide the JDK's constants. Those that may be persistent have codecs.
        if (type.getClassLoader() == null) {
            return names;
        }
        for (Field field : type.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) && Modifier.isFinal(field.getModifiers())
                    && !field.getType().isPrimitive()) {
                try {
                    field.setAccessible(true);
                    Object constant = field.get(null);
                    if (constant != null) {
                        names.putIfAbsent(constant, type.getName() + "#" + field.getName());
                    }
                } catch (InaccessibleObjectException | IllegalAccessException e) {
                    // Not known as a constant, then.
                }
            }
        }
        return names;
    }

    /** The name of the constant, as the owner's class knows it; null if it is none. Costs a look-up or two. */
    static String nameOf(Object value, Class<?> owner) {
        String name = KNOWN_TO.get(value.getClass()).get(value);
        return name != null ? name : KNOWN_TO.get(owner).get(value);
    }

    /** The nearest name of each constant that the class, and those above and around it, have. */
    private static Map<Object, String> collect(Class<?> start) {
        Map<Object, String> names = new IdentityHashMap<>();
        for (Class<?> above = start; above != null; above = above.getSuperclass()) {
            for (Class<?> around = above; around != null; around = around(around)) {
                OF_CLASS.get(around).forEach(names::putIfAbsent);
            }
        }
        return names;
    }

    /**
     * The class around; null if there is none, and if the two class files disagree: Kotlin's say of a class that was
     * inlined (for a delegated property) where it came from.
     */
    private static Class<?> around(Class<?> type) {
        try {
            return type.getDeclaringClass();
        } catch (IncompatibleClassChangeError e) {
            return null;
        }
    }

    /** @throws ClassChanged if there is no such constant any more */
    static Object named(String text) {
        int end = text.indexOf('#');
        Class<?> type = Classes.find(text.substring(0, end));
        return OF_CLASS.get(type).entrySet().stream()
                .filter(entry -> entry.getValue().equals(text)).map(Map.Entry::getKey).findFirst()
                .orElseThrow(() -> new ClassChanged("the store refers to the constant " + text
                        + ", which its class no longer has"));
    }
}
