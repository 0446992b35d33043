package dev.norn.sas;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.List;

/** Finds the constructor that arguments fit; of several the most specific, as the language does, where {@code int} is more specific than {@code Number}. */
final class Constructors {
    private Constructors() {}

    /** @throws SASException if none fits, or several do and none is the most specific */
    @SuppressWarnings("unchecked")
    static <T> Constructor<T> find(Class<T> type, Object[] arguments) {
        List<Constructor<?>> fitting = Arrays.stream(type.getDeclaredConstructors())
                .filter(candidate -> !candidate.isSynthetic() && fits(candidate.getParameterTypes(), arguments)).toList();
        if (fitting.isEmpty()) {
            throw new SASException("no constructor of " + type.getName() + " fits " + Arrays.toString(arguments));
        }
        Constructor<T> found = (Constructor<T>) fitting.stream()
                .filter(candidate -> fitting.stream().allMatch(other -> isAsSpecific(candidate.getParameterTypes(), other.getParameterTypes()))).findFirst()
                .orElseThrow(() -> new SASException("several constructors of " + type.getName() + " fit " + Arrays.toString(arguments) + ": " + fitting));
        found.setAccessible(true);
        return found;
    }

    private static boolean isAsSpecific(Class<?>[] types, Class<?>[] others) {
        for (int i = 0; i < types.length; i++) {
            boolean isBoxOfOther = others[i].isPrimitive() && !types[i].isPrimitive();
            if (isBoxOfOther || !boxed(others[i]).isAssignableFrom(boxed(types[i]))) {
                return false;
            }
        }
        return true;
    }

    private static boolean fits(Class<?>[] types, Object[] arguments) {
        if (types.length != arguments.length) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            boolean fits = arguments[i] == null ? !types[i].isPrimitive() : boxed(types[i]).isInstance(arguments[i]);
            if (!fits) {
                return false;
            }
        }
        return true;
    }

    private static Class<?> boxed(Class<?> type) {
        return java.lang.invoke.MethodType.methodType(type).wrap().returnType();
    }

    /** Throws what a constructor threw, whatever its type. */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> RuntimeException sneak(Throwable thrown) throws E {
        throw (E) thrown;
    }
}
