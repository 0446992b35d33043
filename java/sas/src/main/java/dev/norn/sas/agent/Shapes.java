package dev.norn.sas.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.reflect.AccessFlag;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** What the transformation has to know of classes, read from their class files as resources, so that none is loaded by it. */
final class Shapes {
    private static final String OBJECT = "java/lang/Object";
    private static final String RECORD = "java/lang/Record";
    private static final int HEADER_BYTES = 16;
    /** Classes of the JDK that a class with persistent instances may extend: what they have in fields need not persist. */
    private static final Set<String> ROOTS_ABOVE = Set.of(OBJECT, RECORD, "java/util/AbstractMap", "java/util/AbstractList",
            "java/util/AbstractSet", "java/util/AbstractCollection", "java/util/AbstractSequentialList");

    final ClassLoader loader;
    private final Predicate<String> isOurs;
    private final Map<String, Entry> known;

    /** @param known what is known of the loader's classes, by their internal names; shared by threads */
    Shapes(ClassLoader loader, Predicate<String> isOurs, Map<String, Entry> known) {
        this.loader = loader;
        this.isOurs = isOurs;
        this.known = known;
    }

    /** What is known of a name: the class, or that there is no class file. */
    record Entry(Shape shape) {}

    /** An instance field and its place in persistent instances. */
    record Field(String name, String descriptor, int flags, int offset) {
        boolean isReference() {
            return descriptor.length() > 1;
        }
    }

    /**
     * A class.
     *
     * @param isManaged whether its instances may be persistent
     * @param end where its fields end in persistent instances, in bytes
     */
    record Shape(String name, String superName, List<String> interfaces, boolean isManaged, boolean isRecord, List<Field> fields, int end, int flags) {
        /** Whether it has the hidden fields. */
        boolean isRoot() {
            return ROOTS_ABOVE.contains(superName);
        }

        /** Whether it would inherit equality from Object. */
        boolean extendsObject() {
            return superName.equals(OBJECT);
        }
    }

    /** The class of this internal name; null if there is no class file. */
    Shape find(String name) {
        Entry entry = known.get(name);
        if (entry == null) {
            entry = new Entry(read(name));
            known.put(name, entry);
        }
        return entry.shape;
    }

    private Shape read(String name) {
        try (InputStream in = loader.getResourceAsStream(name + ".class")) {
            return in == null ? null : of(ClassFile.of().parse(in.readAllBytes()));
        } catch (IOException e) {
            return null;
        }
    }

    /** Takes a class from its bytes. */
    Shape add(ClassModel model) {
        Shape shape = of(model);
        known.put(shape.name, new Entry(shape));
        return shape;
    }

    private Shape of(ClassModel model) {
        String name = model.thisClass().asInternalName();
        String above = model.superclass().map(entry -> entry.asInternalName()).orElse("");
        boolean isClass = !model.flags().has(AccessFlag.INTERFACE) && !model.flags().has(AccessFlag.ENUM) && !model.flags().has(AccessFlag.MODULE);
        Shape parent = isClass && isOurs.test(name) && isOurs.test(above) ? find(above) : null;
        boolean isManaged = isClass && isOurs.test(name)
                && (ROOTS_ABOVE.contains(above) || parent != null && parent.isManaged);
        int[] end = {parent == null ? HEADER_BYTES : parent.end};
        List<String> interfaces = model.interfaces().stream().map(entry -> entry.asInternalName()).toList();
        return new Shape(name, above, interfaces, isManaged, above.equals(RECORD), place(model, end), end[0], model.flags().flagsMask());
    }

    /** Gives the instance fields their places: the widest first, and by name, so that the class file alone decides. */
    private static List<Field> place(ClassModel model, int[] end) {
        List<Field> placed = new ArrayList<>();
        model.fields().stream().filter(field -> !field.flags().has(AccessFlag.STATIC) && !field.fieldName().stringValue().startsWith(Names.PREFIX))
                .sorted(Comparator.comparingInt((FieldModel field) -> -bytes(field.fieldType().stringValue()))
                        .thenComparing(field -> field.fieldName().stringValue()))
                .forEach(field -> {
                    String descriptor = field.fieldType().stringValue();
                    int bytes = bytes(descriptor);
                    int offset = (end[0] + bytes - 1) / bytes * bytes;
                    end[0] = offset + bytes;
                    placed.add(new Field(field.fieldName().stringValue(), descriptor, field.flags().flagsMask(), offset));
                });
        return placed;
    }

    private static int bytes(String descriptor) {
        return switch (descriptor.charAt(0)) {
            case 'Z', 'B' -> 1;
            case 'S', 'C' -> 2;
            case 'I', 'F' -> 4;
            default -> 8;
        };
    }

    /** The class that declares the instance field that this name resolves to, if its instances may be persistent; else null. */
    Shape declaring(String owner, String name, String descriptor) {
        for (Shape at = find(owner); at != null; at = find(at.superName)) {
            for (Field field : at.fields) {
                if (field.name.equals(name) && field.descriptor.equals(descriptor)) {
                    return at.isManaged ? at : null;
                }
            }
        }
        return null;
    }

    /** Whether the class is, or a class or interface above it is, the one of this internal name. */
    boolean isBelow(String name, String wanted) {
        Deque<String> open = new ArrayDeque<>(List.of(name));
        while (!open.isEmpty()) {
            String at = open.pop();
            Shape shape = at.equals(wanted) || at.isEmpty() ? null : find(at);
            if (at.equals(wanted)) {
                return true;
            }
            if (shape != null) {
                open.push(shape.superName);
                open.addAll(shape.interfaces);
            }
        }
        return false;
    }

    /** Whether fields of this type hold handles only, so that the field may serve as their cache. */
    boolean isManagedType(String descriptor) {
        if (!descriptor.startsWith("L")) {
            return false;
        }
        String name = descriptor.substring(1, descriptor.length() - 1);
        if (!isOurs.test(name)) {
            return false;
        }
        Shape shape = find(name);
        return shape != null && shape.isManaged;
    }
}
