package dev.norn.sas.agent;

import dev.norn.sas.agent.Shapes.Shape;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Annotation;
import java.lang.classfile.AnnotationValue;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.reflect.AccessFlag;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the class files that a loader finds say of classes whose instances a store has, transformed or not. None of the
 * classes is loaded. Names are as in {@link Class#getName}.
 */
public final class ClassFiles {
    private static final String RENAMED = "Ldev/norn/sas/Renamed;";

    private final ClassLoader loader;
    private final Shapes shapes;

    public ClassFiles(ClassLoader loader) {
        this.loader = loader;
        // A class that has persistent instances is the agent's, and so are those above it, down to ones without fields,
        // which make no difference.
        shapes = new Shapes(loader, ClassFiles::mayBePersistent, new ConcurrentHashMap<>());
    }

    private static boolean mayBePersistent(String name) {
        return Transformation.mayInclude(name)
                && ClassLoader.getPlatformClassLoader().getResource(name + ".class") == null;
    }

    private Shape shape(String name) {
        return shapes.find(name.replace('.', '/'));
    }

    public boolean has(String name) {
        return shape(name) != null;
    }

    /** The class's description for the class dictionary; null if it cannot have persistent instances. */
    public String layout(String name) {
        Shape shape = shape(name);
        return shape != null && shape.isManaged() ? shapes.layout(shape) : null;
    }

    /**
     * What the fields of the class, and of those above it, were called: {@code declaring-class.name} by
     * {@code declaring-class.name}.
     */
    public Map<String, String> renamed(String name) {
        Map<String, String> renamed = new HashMap<>();
        for (Shape at = shape(name); at != null && at.isManaged(); at = shapes.find(at.superName())) {
            String declaring = at.name().replace('/', '.') + ".";
            for (FieldModel field : read(at.name()).fields()) {
                String old = oldName(field);
                if (old != null) {
                    renamed.put(declaring + field.fieldName().stringValue(), old.contains(".") ? old : declaring + old);
                }
            }
        }
        return renamed;
    }

    private static String oldName(FieldModel field) {
        return field.findAttribute(Attributes.runtimeInvisibleAnnotations()).stream()
                .flatMap(all -> all.annotations().stream())
                .filter(annotation -> annotation.className().equalsString(RENAMED))
                .map(ClassFiles::text).findFirst().orElse(null);
    }

    private static String text(Annotation annotation) {
        return ((AnnotationValue.OfString) annotation.elements().getFirst().value()).stringValue();
    }

    private ClassModel read(String name) {
        try (InputStream in = loader.getResourceAsStream(name + ".class")) {
            return ClassFile.of().parse(in.readAllBytes());
        } catch (IOException e) {
            throw new dev.norn.sas.exception.StorageReadFailure("cannot read the class file of "
                    + name.replace('/', '.') + ": " + e.getMessage(), e);
        }
    }

    /** Whether the class is the other one or extends or implements it, as far as there are class files. */
    public boolean isBelow(String name, String other) {
        return other.equals(Object.class.getName()) || shapes.isBelow(name.replace('.', '/'), other.replace('.', '/'));
    }
}
