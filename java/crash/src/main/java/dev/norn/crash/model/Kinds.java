package dev.norn.crash.model;

import java.lang.reflect.InvocationTargetException;

/** The generated subclasses of {@link Kind}, by their numbers. Their constructors take the stamp. */
public final class Kinds {
    public static final int COUNT = 120;

    private Kinds() {}

    /** Which kind a transaction with this number makes. */
    public static int of(long id) {
        return (int) Math.floorMod(id * 0x9E3779B97F4A7C15L >>> 20, COUNT);
    }

    /** The class of a kind. */
    public static Class<?> type(int kind) {
        try {
            return Class.forName("dev.norn.crash.model.Kind" + kind);
        } catch (ClassNotFoundException e) {
            throw new AssertionError("no class of kind " + kind, e);
        }
    }

    /** A temporary object of a kind. */
    public static Kind make(int kind, long stamp) {
        try {
            return (Kind) type(kind).getConstructor(long.class).newInstance(stamp);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
