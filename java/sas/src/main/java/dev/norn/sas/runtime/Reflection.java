package dev.norn.sas.runtime;

import dev.norn.sas.exception.SASException;
import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/**
 * Ways to fields that pass the accessors by. Temporary objects may be used through all of them. Method handles of
 * fields become those of the accessors. A class whose fields are reached through a VarHandle, an updater or Unsafe
 * cannot have persistent instances, and reflection on a persistent object is refused, both with a message.
 */
public final class Reflection {
    private Reflection() {}

    private static void refuse(Class<?> type, String field, String way) {
        for (Class<?> declaring = type; declaring != null; declaring = declaring.getSuperclass()) {
            if (Arrays.stream(declaring.getDeclaredFields()).anyMatch(its -> its.getName().equals(field))) {
                if (isManaged(declaring)) {
                    Classes.refuse(declaring, "its field " + field + " is used through " + way
                            + ", which sees plain fields only: use the field itself in a synchronized method or a "
                            + "transaction, where the object is locked");
                }
                return;
            }
        }
    }

    private static boolean isManaged(Class<?> type) {
        return SasObject.class.isAssignableFrom(type);
    }

    public static VarHandle findVarHandle(MethodHandles.Lookup lookup, Class<?> type, String name, Class<?> its)
            throws ReflectiveOperationException {
        refuse(type, name, "a VarHandle");
        return lookup.findVarHandle(type, name, its);
    }

    public static VarHandle fieldVarHandle(MethodHandles.Lookup lookup, String name, Class<VarHandle> kind,
            Class<?> type, Class<?> its) {
        refuse(type, name, "a VarHandle");
        return ConstantBootstraps.fieldVarHandle(lookup, name, kind, type, its);
    }

    public static VarHandle unreflectVarHandle(MethodHandles.Lookup lookup, Field field) throws IllegalAccessException {
        refuse(field.getDeclaringClass(), field.getName(), "a VarHandle");
        return lookup.unreflectVarHandle(field);
    }

    public static MethodHandle findGetter(MethodHandles.Lookup lookup, Class<?> type, String name, Class<?> its)
            throws ReflectiveOperationException {
        MethodHandle plain = lookup.findGetter(type, name, its);
        return getter(plain, lookup.revealDirect(plain).getDeclaringClass(), name, its);
    }

    public static MethodHandle findSetter(MethodHandles.Lookup lookup, Class<?> type, String name, Class<?> its)
            throws ReflectiveOperationException {
        MethodHandle plain = lookup.findSetter(type, name, its);
        return setter(plain, lookup.revealDirect(plain).getDeclaringClass(), name, its);
    }

    public static MethodHandle unreflectGetter(MethodHandles.Lookup lookup, Field field) throws IllegalAccessException {
        MethodHandle plain = lookup.unreflectGetter(field);
        return Modifier.isStatic(field.getModifiers()) ? plain
                : getter(plain, field.getDeclaringClass(), field.getName(), field.getType());
    }

    public static MethodHandle unreflectSetter(MethodHandles.Lookup lookup, Field field) throws IllegalAccessException {
        MethodHandle plain = lookup.unreflectSetter(field);
        return Modifier.isStatic(field.getModifiers()) ? plain
                : setter(plain, field.getDeclaringClass(), field.getName(), field.getType());
    }

    /** The accessor where the class has one; the lookup has been let through to the field. */
    private static MethodHandle getter(MethodHandle plain, Class<?> declaring, String name, Class<?> its)
            throws IllegalAccessException {
        MethodType type = MethodType.methodType(its, declaring);
        return isManaged(declaring) ? Classes.of(declaring).accessor("$sas$get$" + name, type).asType(plain.type())
                : plain;
    }

    private static MethodHandle setter(MethodHandle plain, Class<?> declaring, String name, Class<?> its)
            throws IllegalAccessException {
        if (declaring.isRecord()) {
            throw new IllegalAccessException("final field has no write access: " + declaring.getName() + "." + name);
        }
        MethodType type = MethodType.methodType(void.class, declaring, its);
        return isManaged(declaring) ? Classes.of(declaring).accessor("$sas$put$" + name, type).asType(plain.type())
                : plain;
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
            throw new NotSerializableException(object.getClass().getName()
                    + ": a persistent object is not serialized; it is in its store");
        }
    }

    /** Before an access through reflection. */
    public static void checkField(Field field, Object object) {
        if (object instanceof SasObject handle && handle.$sas$reference() != 0
                && !Modifier.isStatic(field.getModifiers())) {
            throw new SASException("reflection on field " + field.getName() + " of a persistent "
                    + object.getClass().getName() + ": call its methods instead");
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
