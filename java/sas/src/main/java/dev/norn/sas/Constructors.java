package dev.norn.sas;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Finds the constructor that arguments fit; of several the most specific, as the language does, where {@code int} is more specific than {@code Number}. */
final class Constructors {
    private Constructors() {}

    /** @throws SASException if none fits, or several do and none is the most specific */
    @SuppressWarnings("unchecked")
    static <T> Constructor<T> find(Class<T> type, Object[] arguments) {
        List<Constructor<?>> fitting = Arrays.stream(type.getDeclaredConstructors())
                .filter(candidate -> !candidate.isSynthetic() && fits(candidate.getParameterTypes(), arguments)).toList();
        if (fitting.isEmpty()) {
            throw new SASException("no constructor of " + type.getName() + " fits the arguments " + describe(arguments) + ": it has " + describe(type)
                    + (arguments.length > 0 ? "" : "; arguments are given as in Factory.newInstanceIn(" + type.getSimpleName() + ".class, container, \"Ann\")"));
        }
        Constructor<T> found = (Constructor<T>) fitting.stream()
                .filter(candidate -> fitting.stream().allMatch(other -> isAsSpecific(candidate.getParameterTypes(), other.getParameterTypes()))).findFirst()
                .orElseThrow(() -> new SASException("several constructors of " + type.getName() + " fit the arguments " + describe(arguments) + ": " + fitting));
        found.setAccessible(true);
        return found;
    }

    /** The arguments' types: the arguments themselves may be large, or not ready to be asked. */
    private static String describe(Object[] arguments) {
        return Arrays.stream(arguments).map(argument -> argument == null ? "null" : argument.getClass().getTypeName()).collect(Collectors.joining(", ", "(", ")"));
    }

    private static String describe(Class<?> type) {
        return Arrays.stream(type.getDeclaredConstructors()).filter(candidate -> !candidate.isSynthetic())
                .map(candidate -> Arrays.stream(candidate.getParameterTypes()).map(Class::getTypeName).collect(Collectors.joining(", ", type.getSimpleName() + "(", ")")))
                .sorted().collect(Collectors.joining(", "));
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

    /** Throws what the program's code threw, whatever its type. */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> RuntimeException sneak(Throwable thrown) throws E {
        throw (E) thrown;
    }
}
