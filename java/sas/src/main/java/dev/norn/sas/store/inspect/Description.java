package dev.norn.sas.store.inspect;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.runtime.ArrayCopies;
import dev.norn.sas.runtime.Classes;
import dev.norn.sas.runtime.CurrentStore;
import dev.norn.sas.runtime.Nobody;
import dev.norn.sas.runtime.References;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.runtime.Values;
import dev.norn.sas.store.memory.Format;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * An object in one line, for debuggers, shells and logs: class, address, container, and the fields, one level deep.
 * Fields have their values in the running thread's transaction if that has stored into the object, else the committed
 * ones, unless another transaction is changing the object: then what is there, and that it is being changed. Never
 * waits, and never throws.
 */
public final class Description {
    private static final int TEXT_MAX = 100;

    private Description() {}

    /** The line. Costs a look at each field, and at the dictionary for each object that one refers to. */
    public static String of(Object object) {
        if (object == null) {
            return "null";
        }
        try {
            return object instanceof SasObject handle ? ofHandle(handle) : ofOther(object);
        } catch (RuntimeException | InternalError | LinkageError e) {
            return name(object) + ", " + e.getMessage();
        }
    }

    private static String name(Object object) {
        return object instanceof SasObject handle && handle.$sas$reference() != 0 ? References.text(object)
                : object.getClass().getTypeName() + "@" + Integer.toHexString(System.identityHashCode(object));
    }

    private static String ofOther(Object object) {
        if (Values.encode(object) != null) {
            return value(object) + ", a value";
        }
        long reference = object.getClass().isArray() && CurrentStore.isOpen() ? ArrayCopies.referenceOfCopy(object) : 0;
        return name(object) + (reference == 0 ? ", temporary"
                : ", copy of the array at " + Long.toHexString(Format.offsetOf(reference)));
    }

    private static String ofHandle(SasObject handle) {
        long reference = handle.$sas$reference();
        if (reference == 0) {
            return name(handle) + ", temporary {" + fields(handle, (field, declared) -> plain(handle, field)) + "}";
        }
        if (!CurrentStore.isOpen() || Nobody.isOfClosedStore(handle)) {
            return name(handle) + ", its store is closed";
        }
        UnlockedView view = new UnlockedView(CurrentStore.get());
        String container = view.container(reference);
        String head = name(handle) + (container == null ? "" : " in " + container);
        return head + (view.isThere(reference) ? body(handle, view) : ", destroyed");
    }

    private static String body(SasObject handle, UnlockedView view) {
        long at = Format.offsetOf(handle.$sas$reference());
        SasObject own = Session.get().holdingForWriting(handle.$sas$reference());
        if (own != null) {
            return " {" + fields(handle, (field, declared) -> declared.isReference()
                    ? view.field(at + declared.offset, declared.descriptor.charAt(0)) : plain(own, field)) + "}";
        }
        var sight = view.quietly(handle.$sas$reference(), () -> fields(handle,
                (field, declared) -> view.field(at + declared.offset, declared.descriptor.charAt(0))));
        return (sight.isQuiet() ? "" : ", being changed") + " {" + sight.text() + "}";
    }

    private interface Reader {
        String read(Field field, Declared declared);
    }

    /** A line of a class's layout. */
    private record Declared(int offset, String descriptor, String type, String name) {
        static Declared parse(String line) {
            String[] words = line.split(" ");
            int end = words[2].lastIndexOf('.');
            return new Declared(Integer.parseInt(words[0]), words[1], words[2].substring(0, end),
                    words[2].substring(end + 1));
        }

        boolean isReference() {
            return descriptor.length() > 1;
        }

        Field field(Class<?> from) {
            try {
                for (Class<?> at = from; at != null; at = at.getSuperclass()) {
                    if (at.getName().equals(type)) {
                        Field field = at.getDeclaredField(name);
                        field.setAccessible(true);
                        return field;
                    }
                }
                throw new SASException("no class above " + from.getName() + " is " + type);
            } catch (NoSuchFieldException e) {
                throw new SASException(type + " has no field " + name, e);
            }
        }
    }

    private static String fields(SasObject handle, Reader reader) {
        List<String> texts = new ArrayList<>();
        for (String line : Classes.of(handle.getClass()).fieldLines()) {
            Declared declared = Declared.parse(line);
            texts.add(declared.name + "=" + reader.read(declared.field(handle.getClass()), declared));
        }
        return String.join(", ", texts);
    }

    /** What the Java object's field has. */
    private static String plain(SasObject handle, Field field) {
        try {
            return value(field.get(handle));
        } catch (IllegalAccessException e) {
            return "not accessible";
        }
    }

    private static String value(Object value) {
        return switch (value) {
            case null -> "null";
            case String text -> "\"" + (text.length() > TEXT_MAX ? text.substring(0, TEXT_MAX) + "\"…" : text + "\"");
            case Character letter -> "'" + letter + "'";
            case Enum<?> constant -> constant.getDeclaringClass().getName() + "#" + constant.name();
            default -> Values.encode(value) == null ? name(value) : value.toString();
        };
    }
}
