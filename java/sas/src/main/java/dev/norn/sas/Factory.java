package dev.norn.sas;

import dev.norn.sas.exception.ClassChanged;
import dev.norn.sas.exception.ContainerFull;
import dev.norn.sas.exception.ObjectAccessDenied;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.runtime.ArrayCopies;
import dev.norn.sas.runtime.Classes;
import dev.norn.sas.runtime.Nobody;
import dev.norn.sas.runtime.Promotion;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.runtime.Values;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.inspect.Description;
import java.lang.reflect.Modifier;
import java.util.Objects;

/**
 * Creates and destroys persistent objects (section 2.4). The class is named by a {@link Class} or by its name;
 * the constructor is the one that fits the arguments. A constructor runs as for any object; then the same Java
 * object becomes the handle of the persistent one. Outside transactions, each creation is one of its own.
 *
 * <p>All throw {@link ContainerFull}, {@link SASException} if the class cannot be persistent, and the exceptions of the
 * constructor.
 */
public final class Factory {
    private Factory() {}

    /** Creates in the container {@link Store#MAIN}. */
    public static <T> T newPermInstance(Class<T> type) {
        return newInstanceIn(type, Store.current().container(Store.MAIN));
    }

    public static Object newPermInstance(String className) {
        return newPermInstance(find(className));
    }

    /** Creates in the container. */
    public static <T> T newInstanceIn(Class<T> type, Container container, Object... arguments) {
        return create(type, Objects.requireNonNull(container, "the container is null").range(), 0, arguments);
    }

    public static Object newInstanceIn(String className, Container container, Object... arguments) {
        return newInstanceIn(find(className), container, arguments);
    }

    /** Creates in the container of an existing object. */
    public static <T> T newInstanceWith(Class<T> type, Object near, Object... arguments) {
        return create(type, rangeOf(near), 0, arguments);
    }

    public static Object newInstanceWith(String className, Object near, Object... arguments) {
        return newInstanceWith(find(className), near, arguments);
    }

    /** Creates in the container of an existing object, on its page where it fits. */
    public static <T> T newInstanceNear(Class<T> type, Object near, Object... arguments) {
        return create(type, rangeOf(near), referenceOf(near), arguments);
    }

    public static Object newInstanceNear(String className, Object near, Object... arguments) {
        return newInstanceNear(find(className), near, arguments);
    }

    private static <T> T create(Class<T> type, Range range, long near, Object[] arguments) {
        if (Objects.requireNonNull(type, "the class is null").isArray()) {
            String method = type.getComponentType().isPrimitive() ? "new"
                    + capitalised(type.getComponentType().getName()) + "Array" : "newArrayOf";
            throw new SASException(type.getTypeName() + " is an array: create it with Factory." + method + "Near");
        }
        Classes.of(type).requirePersistable();
        if (Modifier.isAbstract(type.getModifiers())) {
            throw new SASException("cannot construct a " + type.getName() + ": it is abstract");
        }
        T object = type.cast(Constructors.call(type, arguments));
        Session.get().within(() -> {
            Promotion.promote((SasObject) object, range, near);
            return null;
        });
        return object;
    }

    private static String capitalised(String name) {
        return Character.toUpperCase(name.charAt(0)) + name.substring(1);
    }

    private static Class<?> find(String name) {
        try {
            return Classes.find(name);
        } catch (ClassChanged e) {
            throw new SASException("there is no class " + name + " on the class path", e);
        }
    }

    private static long referenceOf(Object object) {
        Objects.requireNonNull(object, "the object is null");
        if (object instanceof SasObject handle) {
            Nobody.requireOpenStore(handle);
        }
        long reference = object instanceof SasObject handle ? handle.$sas$reference()
                : object.getClass().isArray() ? Session.get().within(() -> ArrayCopies.referenceOfCopy(object)) : 0;
        if (reference == 0) {
            String type = object.getClass().getTypeName();
            throw new SASException(Values.encode(object) == null ? "the " + type
                    + " is temporary, so it is in no container"
                    : "the " + type + " is a value, which is stored with the object that has it: give that object");
        }
        return reference;
    }

    private static Range rangeOf(Object near) {
        return Store.current().attached().containerOf(referenceOf(near));
    }

    /** A persistent array of booleans, zeros, near {@code near}. */
    public static boolean[] newBooleanArrayNear(int length, Object near) {
        return (boolean[]) newArray(boolean.class, length, near);
    }

    /** A persistent array of bytes, zeros, near {@code near}. */
    public static byte[] newByteArrayNear(int length, Object near) {
        return (byte[]) newArray(byte.class, length, near);
    }

    /** A persistent array of shorts, zeros, near {@code near}. */
    public static short[] newShortArrayNear(int length, Object near) {
        return (short[]) newArray(short.class, length, near);
    }

    /** A persistent array of chars, zeros, near {@code near}. */
    public static char[] newCharArrayNear(int length, Object near) {
        return (char[]) newArray(char.class, length, near);
    }

    /** A persistent array of ints, zeros, near {@code near}. */
    public static int[] newIntArrayNear(int length, Object near) {
        return (int[]) newArray(int.class, length, near);
    }

    /** A persistent array of longs, zeros, near {@code near}. */
    public static long[] newLongArrayNear(int length, Object near) {
        return (long[]) newArray(long.class, length, near);
    }

    /** A persistent array of floats, zeros, near {@code near}. */
    public static float[] newFloatArrayNear(int length, Object near) {
        return (float[]) newArray(float.class, length, near);
    }

    /** A persistent array of doubles, zeros, near {@code near}. */
    public static double[] newDoubleArrayNear(int length, Object near) {
        return (double[]) newArray(double.class, length, near);
    }

    /** A persistent array of references, nulls, near {@code near}. */
    @SuppressWarnings("unchecked")
    public static <T> T[] newArrayOfNear(Class<T> component, int length, Object near) {
        return (T[]) newArray(component, length, near);
    }

    /** A persistent array of references in a container. */
    @SuppressWarnings("unchecked")
    public static <T> T[] newArrayOfIn(Class<T> component, int length, Container container) {
        return (T[]) Session.get().within(() -> ArrayCopies.create(component, length, container.range(), 0));
    }

    private static Object newArray(Class<?> component, int length, Object near) {
        long reference = referenceOf(near);
        return Session.get().within(() -> ArrayCopies.create(component, length,
                Store.current().attached().containerOf(reference), reference));
    }

    /**
     * The paper's way to make a string persistent. Strings are values here: a field that is set to the result stores
     * the characters near its object. So this only checks that {@code near} is persistent.
     */
    public static String allocStringNear(String text, Object near) {
        referenceOf(near);
        return Objects.requireNonNull(text);
    }

    /**
     * Destroys a persistent object and the values that its fields hold. References to it throw {@link ObjectDestroyed}
     * from then on.
     *
     * @throws ObjectDestroyed if it was destroyed before
     * @throws ObjectAccessDenied if its container forbids it ({@link Container#forbidDestroys})
     * @throws ContainerFull if its container records what is destroyed ({@link Container#recordDestroys}), and there is
     *     no room for more records
     */
    public static void destroyInstance(Object object) {
        destroyInstance(object, "");
    }

    /**
     * The same with a note for the record, where the container keeps one: for whom the program does it, and why. At
     * most 300 characters.
     */
    public static void destroyInstance(Object object, String note) {
        Objects.requireNonNull(note, "the note is null");
        long reference = referenceOf(object);
        Session.get().within(() -> {
            Classes.destroy(reference, note);
            return null;
        });
    }

    /** The container of a persistent object or array. */
    public static Container getInstanceContainer(Object object) {
        return new Container(rangeOf(object));
    }

    /** Whether the object is persistent. */
    public static boolean isPersistent(Object object) {
        return object instanceof SasObject handle && handle.$sas$reference() != 0;
    }

    /**
     * An object in one line, for a debugger's view, a shell or a log: class, address, container and fields, one level
     * deep. Takes no lock, and shows that another transaction is changing the object. Never throws: a destroyed object,
     * a damaged container and a closed store are described. The text is for people only.
     */
    public static String describe(Object object) {
        return Description.of(object);
    }
}
