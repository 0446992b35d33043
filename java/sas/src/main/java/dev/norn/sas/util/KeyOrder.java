package dev.norn.sas.util;

import java.lang.reflect.ParameterizedType;
import java.util.Arrays;
import java.util.Comparator;

/**
 * The order of keys that have one hash code, alike in every JVM: by class, then by the order that the class gives its
 * own instances. Keys without such an order, null among them, are equal in it.
 */
final class KeyOrder {
    static final Comparator<Object> OF_ONE_HASH_CODE = KeyOrder::compare;
    private static final String UNORDERED = "";
    /** The name of a class that is comparable with itself; {@link #UNORDERED} for others. */
    private static final ClassValue<String> NAMES = new ClassValue<>() {
        @Override
        protected String computeValue(Class<?> type) {
            boolean isOrdered = Arrays.stream(type.getGenericInterfaces())
                    .anyMatch(its -> its instanceof ParameterizedType generic
                            && generic.getRawType() == Comparable.class && generic.getActualTypeArguments()[0] == type);
            return isOrdered ? type.getName() : UNORDERED;
        }
    };

    private KeyOrder() {}

    private static String name(Object key) {
        return switch (key) {
            case null -> UNORDERED;
            case Enum<?> constant -> constant.getDeclaringClass().getName();
            default -> NAMES.get(key.getClass());
        };
    }

    /** Whether the key has an order. */
    static boolean isOrdered(Object key) {
        return !name(key).equals(UNORDERED);
    }

    @SuppressWarnings("unchecked")
    private static int compare(Object a, Object b) {
        String name = name(a);
        int byClass = name.compareTo(name(b));
        if (byClass != 0 || name.equals(UNORDERED)) {
            return byClass;
        }
        // The places of constants may change, and their names do not.
        return a instanceof Enum<?> constant ? constant.name().compareTo(((Enum<?>) b).name())
                : ((Comparable<Object>) a).compareTo(b);
    }
}
