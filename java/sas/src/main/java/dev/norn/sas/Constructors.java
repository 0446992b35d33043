package dev.norn.sas;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.runtime.Classes;
import dev.norn.sas.runtime.Maker;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the constructor that arguments fit; of several the most specific, as the language does, where {@code int} is
 * more specific than {@code Number}.
 *
 * <p>Which one it is follows from the arguments' classes alone. So the constructors that were found last are kept with
 * each class, each with code that calls it: creating many objects in the same way costs a comparison of classes and a
 * call each, instead of a search and a call with reflection.
 */
final class Constructors {
    /**
     * As many ways to call the constructors of one class are kept. A program has few, and comparing more of them costs
     * as much as it saves.
     */
    private static final int KEPT_MAX = 8;
    private static final ClassValue<Known> KNOWN = new ClassValue<>() {
        @Override
        protected Known computeValue(Class<?> type) {
            return new Known(new AtomicReference<>(new Found[0]), new ConcurrentHashMap<>());
        }
    };

    private Constructors() {}

    /**
     * What is known of a class: the ways to call its constructors that were found last, and the code that calls each
     * constructor. A program may use more ways than are kept, and then each is searched for again. The code is made
     * once for each constructor, because it is a class, and to define one costs far more than a search.
     */
    private record Known(AtomicReference<Found[]> kept, ConcurrentMap<Constructor<?>, Maker> makers) {
        void keep(Found found) {
            kept.updateAndGet(before -> Stream.concat(Stream.of(found), Arrays.stream(before)).limit(KEPT_MAX)
                    .toArray(Found[]::new));
        }
    }

    /** The code that calls a constructor, and the classes of the arguments that it was found for; null is null's. */
    private record Found(Class<?>[] classes, Maker maker) {
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
     * A new object. Costs a few comparisons and the constructor, or a search through the constructors for classes of
     * arguments that are new. Throws what the constructor throws.
     *
     * @throws SASException if no constructor fits, or several do and none is the most specific
     */
    static Object call(Class<?> type, Object[] arguments) {
        Known known = KNOWN.get(type);
        for (Found found : known.kept.get()) {
            if (found.isFor(arguments)) {
                return found.maker.make(arguments);
            }
        }
        Maker maker = known.makers.computeIfAbsent(search(type, arguments), Classes.of(type)::newMaker);
        known.keep(new Found(Arrays.stream(arguments).map(Constructors::classOf).toArray(Class<?>[]::new), maker));
        return maker.make(arguments);
    }

    private static Constructor<?> search(Class<?> type, Object[] arguments) {
        List<Constructor<?>> fitting = Arrays.stream(type.getDeclaredConstructors())
                .filter(candidate -> !candidate.isSynthetic() && fits(candidate.getParameterTypes(), arguments))
                .toList();
        if (fitting.isEmpty()) {
            String advice = arguments.length > 0 ? "" : "; arguments are given as in Factory.newInstanceIn("
                    + type.getSimpleName() + ".class, container, \"Ann\")";
            throw new SASException("no constructor of " + type.getName() + " fits the arguments " + describe(arguments)
                    + ": it has " + describe(type) + advice);
        }
        return fitting.stream()
                .filter(candidate -> fitting.stream().allMatch(
                        other -> isAsSpecific(candidate.getParameterTypes(), other.getParameterTypes())))
                .findFirst().orElseThrow(() -> new SASException("several constructors of " + type.getName()
                        + " fit the arguments " + describe(arguments) + ": " + fitting));
    }

    /** The arguments' types: the arguments themselves may be large, or not ready to be asked. */
    private static String describe(Object[] arguments) {
        return Arrays.stream(arguments)
                .map(argument -> argument == null ? "null" : argument.getClass().getTypeName())
                .collect(Collectors.joining(", ", "(", ")"));
    }

    private static String describe(Class<?> type) {
        return Arrays.stream(type.getDeclaredConstructors()).filter(candidate -> !candidate.isSynthetic())
                .map(candidate -> Arrays.stream(candidate.getParameterTypes()).map(Class::getTypeName)
                        .collect(Collectors.joining(", ", type.getSimpleName() + "(", ")")))
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
}
