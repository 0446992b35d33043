package dev.norn.sas;

import dev.norn.sas.exception.SASException;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the constructor that arguments fit; of several the most specific, as the language does, where {@code int} is
 * more specific than {@code Number}.
 *
 * <p>Which one it is follows from the arguments' classes alone. So the constructors that were found last are kept with
 * each class: creating many objects in the same way costs a comparison of classes each, instead of a search with
 * reflection.
 */
final class Constructors {
    /**
     * As many ways to call the constructors of one class are kept. A program has few, and comparing more of them costs
     * as much as it saves.
     */
    private static final int KEPT_MAX = 8;
    private static final ClassValue<AtomicReference<List<Found>>> KEPT = new ClassValue<>() {
        @Override
        protected AtomicReference<List<Found>> computeValue(Class<?> type) {
            return new AtomicReference<>(List.of());
        }
    };

    private Constructors() {}

    /** A constructor, and the classes of the arguments that it was found for; null is the class of null. */
    private record Found(Class<?>[] classes, Constructor<?> constructor) {
        boolean isFor(Object[] arguments) {
            if (arguments.length != classes.length) {
                return false;
            }
            for (int i = 0; i < arguments.length; i++) {
                if (classOf(arguments[i]) != classes[i]) {
                    return false;
                }
            }
            return true;
        }
    }

    private static Class<?> classOf(Object argument) {
        return argument == null ? null : argument.getClass();
    }

    /**
     * Costs a few comparisons, or a search through the constructors for classes of arguments that are new.
     *
     * @throws SASException if none fits, or several do and none is the most specific
     */
    @SuppressWarnings("unchecked")
    static <T> Constructor<T> find(Class<T> type, Object[] arguments) {
        AtomicReference<List<Found>> kept = KEPT.get(type);
        for (Found found : kept.get()) {
            if (found.isFor(arguments)) {
                return (Constructor<T>) found.constructor;
            }
        }
        Constructor<T> constructor = search(type, arguments);
        Found found = new Found(Arrays.stream(arguments).map(Constructors::classOf).toArray(Class<?>[]::new), constructor);
        kept.updateAndGet(known -> Stream.concat(Stream.of(found), known.stream()).limit(KEPT_MAX).toList());
        return constructor;
    }

    @SuppressWarnings("unchecked")
    private static <T> Constructor<T> search(Class<T> type, Object[] arguments) {
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
