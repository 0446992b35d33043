package dev.norn.sas.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.constant.ConstantDescs;
import java.lang.reflect.AccessFlag;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What the transformation has to know of classes, read from their class files as resources, so that none is loaded by
 * it.
 */
final class Shapes {
    private static final String OBJECT = "java/lang/Object";
    private static final String RECORD = "java/lang/Record";
    private static final int HEADER_BYTES = 16;
    /**
     * Classes with fields that a class with persistent instances may extend all the same: what they have in fields need
     * not persist.
     */
    private static final Set<String> ABOVE =
            Set.of("java/util/AbstractList", "java/util/AbstractMap", "java/util/AbstractSequentialList");

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
     * @param isRoot whether it is, and no class above it, so that it has the hidden fields
     * @param inheritsIdentity whether its equality, if it declares none, is Object's
     * @param declaresEquality whether it has a method equals
     * @param inheritsText whether its toString, if it declares none, is Object's
     * @param declaresText whether it has a method toString
     * @param cloneFlags access flags of its method clone, declared or inherited
     * @param isPlain whether a class with persistent instances may extend it although its own may not be persistent: it
     *     and those above have no fields, and a constructor
     * @param end where its fields end in persistent instances, in bytes
     */
    record Shape(String name, String superName, List<String> interfaces, boolean isManaged, boolean isRoot,
            boolean inheritsIdentity, boolean declaresEquality, boolean inheritsText, boolean declaresText,
            int cloneFlags, boolean isPlain, boolean isRecord, List<Field> fields, int end, int flags) {}

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
        boolean isClass = !model.flags().has(AccessFlag.INTERFACE) && !model.flags().has(AccessFlag.ENUM)
                && !model.flags().has(AccessFlag.MODULE);
        Shape parent = above.isEmpty() ? null : find(above);
        boolean isBelowManaged = parent != null && parent.isManaged;
        boolean isManaged = isClass && isOurs.test(name) && parent != null && (parent.isManaged || parent.isPlain);
        int[] end = {isBelowManaged ? parent.end : HEADER_BYTES};
        List<Field> fields = place(model, end);
        boolean isPlain = isClass && !above.equals("java/lang/Enum") && hasOpenConstructor(model)
                && (above.isEmpty() || parent != null && parent.isPlain && (fields.isEmpty() || ABOVE.contains(name)));
        boolean inheritsIdentity = above.isEmpty()
                || parent != null && parent.inheritsIdentity && (above.equals(OBJECT) || !parent.declaresEquality);
        boolean inheritsText = above.isEmpty()
                || parent != null && parent.inheritsText && (above.equals(OBJECT) || !parent.declaresText);
        List<String> interfaces = model.interfaces().stream().map(entry -> entry.asInternalName()).toList();
        return new Shape(name, above, interfaces, isManaged, isManaged && !isBelowManaged, inheritsIdentity,
                declares(model, "equals", "(Ljava/lang/Object;)Z"), inheritsText,
                declares(model, "toString", "()Ljava/lang/String;"), cloneFlags(model, parent), isPlain,
                above.equals(RECORD), fields, end[0], model.flags().flagsMask());
    }

    /**
     * The class dictionary's description of a class: its name, the bytes of an instance, and a line
     * {@code offset descriptor declaring-class.name} for each field.
     */
    String layout(Shape shape) {
        StringBuilder text = new StringBuilder(shape.name.replace('/', '.')).append("\nbytes ")
                .append((shape.end + 15) / 16 * 16);
        for (Shape at = shape; at != null && at.isManaged; at = at.isRoot ? null : find(at.superName)) {
            for (Field field : at.fields) {
                text.append('\n').append(field.offset).append(' ').append(field.descriptor).append(' ')
                        .append(at.name.replace('/', '.')).append('.').append(field.name);
            }
        }
        return text.toString();
    }

    private static boolean hasOpenConstructor(ClassModel model) {
        return model.methods().stream().anyMatch(method -> method.methodName().equalsString(ConstantDescs.INIT_NAME)
                && method.methodType().equalsString("()V")
                && (method.flags().has(AccessFlag.PUBLIC) || method.flags().has(AccessFlag.PROTECTED)));
    }

    private static int cloneFlags(ClassModel model, Shape parent) {
        return model.methods().stream()
                .filter(method -> method.methodName().equalsString("clone")
                        && method.methodType().equalsString("()Ljava/lang/Object;"))
                .findFirst().map(method -> method.flags().flagsMask()).orElse(parent == null ? 0 : parent.cloneFlags);
    }

    private static boolean declares(ClassModel model, String name, String type) {
        return model.methods().stream()
                .anyMatch(method -> method.methodName().equalsString(name) && method.methodType().equalsString(type));
    }

    /** Gives the instance fields their places: the widest first, and by name, so that the class file alone decides. */
    private static List<Field> place(ClassModel model, int[] end) {
        List<Field> placed = new ArrayList<>();
        model.fields().stream()
                .filter(field -> !field.flags().has(AccessFlag.STATIC)
                        && !field.fieldName().stringValue().startsWith(Names.PREFIX))
                .sorted(Comparator.comparingInt((FieldModel field) -> -bytes(field.fieldType().stringValue()))
                        .thenComparing(field -> field.fieldName().stringValue()))
                .forEach(field -> {
                    String descriptor = field.fieldType().stringValue();
                    int bytes = bytes(descriptor);
                    int offset = (end[0] + bytes - 1) / bytes * bytes;
                    end[0] = offset + bytes;
                    placed.add(new Field(field.fieldName().stringValue(), descriptor,
                            field.flags().flagsMask(), offset));
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

    /**
     * The class that declares the instance field that this name resolves to, if its instances may be persistent; else
     * null.
     */
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

    /**
     * Whether fields of this type may hold handles, so that the field may keep one beside the word in the store: those
     * of such classes, of Object, and of interfaces.
     */
    boolean mayKeep(String descriptor) {
        if (!descriptor.startsWith("L")) {
            return false;
        }
        String name = descriptor.substring(1, descriptor.length() - 1);
        if (name.equals(OBJECT)) {
            return true;
        }
        Shape shape = find(name);
        return shape != null && (shape.isManaged || (shape.flags & ClassFile.ACC_INTERFACE) != 0);
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
