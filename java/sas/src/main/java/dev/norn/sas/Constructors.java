package dev.norn.sas;

import java.lang.reflect.Constructor;
import java.util.Arrays;

/** Finds the constructor that arguments fit. */
final class Constructors {
    private Constructors() {}

    /** @throws SASException if none fits, or several do */
    @SuppressWarnings("unchecked")
    static <T> Constructor<T> find(Class<T> type, Object[] arguments) {
        Constructor<T> found = null;
        for (Constructor<?> candidate : type.getDeclaredConstructors()) {
            if (!candidate.isSynthetic() && fits(candidate.getParameterTypes(), arguments)) {
                if (found != null) {
                    throw new SASException("several constructors of " + type.getName() + " fit " + Arrays.toString(arguments));
                }
                found = (Constructor<T>) candidate;
            }
        }
        if (found == null) {
            throw new SASException("no constructor of " + type.getName() + " fits " + Arrays.toString(arguments));
        }
        found.setAccessible(true);
        return found;
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
