package dev.norn.sas.runtime;

import dev.norn.sas.SASException;
import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;

/**
 * Ways to fields that pass the accessors by. Temporary objects may be used through all of them. A class whose fields are reached through a handle of the JDK cannot have
 * persistent instances, and reflection on a persistent object is refused, both with a message.
 */
public final class Reflection {
    private Reflection() {}

    private static void refuse(Class<?> type, String field, String way) {
        if (SasObject.class.isAssignableFrom(type)) {
            Classes.refuse(type.getName(), "its field " + field + " is used through " + way + ", which sees plain fields only");
        }
    }

    public static VarHandle findVarHandle(MethodHandles.Lookup lookup, Class<?> type, String name, Class<?> its) throws ReflectiveOperationException {
        refuse(type, name, "a VarHandle");
        return lookup.findVarHandle(type, name, its);
    }

    public static MethodHandle findGetter(MethodHandles.Lookup lookup, Class<?> type, String name, Class<?> its) throws ReflectiveOperationException {
        refuse(type, name, "a MethodHandle");
        return lookup.findGetter(type, name, its);
    }

    public static MethodHandle findSetter(MethodHandles.Lookup lookup, Class<?> type, String name, Class<?> its) throws ReflectiveOperationException {
        refuse(type, name, "a MethodHandle");
        return lookup.findSetter(type, name, its);
    }

    public static VarHandle unreflectVarHandle(MethodHandles.Lookup lookup, Field field) throws IllegalAccessException {
        refuse(field.getDeclaringClass(), field.getName(), "a VarHandle");
        return lookup.unreflectVarHandle(field);
    }

    public static MethodHandle unreflectGetter(MethodHandles.Lookup lookup, Field field) throws IllegalAccessException {
        refuse(field.getDeclaringClass(), field.getName(), "a MethodHandle");
        return lookup.unreflectGetter(field);
    }

    public static MethodHandle unreflectSetter(MethodHandles.Lookup lookup, Field field) throws IllegalAccessException {
        refuse(field.getDeclaringClass(), field.getName(), "a MethodHandle");
        return lookup.unreflectSetter(field);
    }

    public static void writeObject(ObjectOutputStream out, Object object) throws IOException {
        requireTemporary(object);
        out.writeObject(object);
    }

    public static void writeUnshared(ObjectOutputStream out, Object object) throws IOException {
        requireTemporary(object);
        out.writeUnshared(object);
    }

    private static void requireTemporary(Object object) throws NotSerializableException {
        if (object instanceof SasObject handle && handle.$sas$reference() != 0) {
            throw new NotSerializableException(object.getClass().getName() + ": a persistent object is not serialized; it is in its store");
        }
    }

    /** Before an access through reflection. */
    public static void checkField(Field field, Object object) {
        if (object instanceof SasObject handle && handle.$sas$reference() != 0 && !java.lang.reflect.Modifier.isStatic(field.getModifiers())) {
            throw new SASException("reflection on field " + field.getName() + " of a persistent " + object.getClass().getName()
                    + ": call its methods instead");
        }
    }

    /** Before Unsafe says where a field is. */
    public static void checkOffset(Field field) {
        if (field != null) {
            refuse(field.getDeclaringClass(), field.getName(), "Unsafe");
        }
    }

    /** Before a field updater is made. */
    public static void checkUpdater(Class<?> type, String field) {
        refuse(type, field, "an atomic field updater");
    }
}
