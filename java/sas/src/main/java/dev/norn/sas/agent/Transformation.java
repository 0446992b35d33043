package dev.norn.sas.agent;

import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.FieldRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The classes of some packages, and their transformation: one for a JVM, where the agent has it, or one for a build.
 * What it learnt of a class from its file is kept as long as the loader. A class that was transformed already stays as
 * it is, so a build and the agent may name the same packages.
 */
public final class Transformation {
    private static final String OWN = "dev/norn/sas/";
    private static final List<String> OWN_TRANSFORMED = List.of("dev/norn/sas/util/", "dev/norn/sas/example/");

    private final List<String> packages = new ArrayList<>();
    private final Map<ClassLoader, Map<String, Shapes.Entry>> known = Collections.synchronizedMap(new WeakHashMap<>());

    /**
     * @param packages names of packages, whose subpackages belong to them
     * @throws IllegalArgumentException if one is not the name of a package that can be transformed
     */
    public Transformation(List<String> packages) {
        packages.forEach(PackageName::require);
        this.packages.add(OWN_TRANSFORMED.getFirst());
        packages.forEach(name -> this.packages.add(name.replace('.', '/') + "/"));
    }

    /** Whether the class of this internal name is to be transformed. */
    public boolean includes(String name) {
        return mayInclude(name) && packages.stream().anyMatch(name::startsWith);
    }

    /** Whether naming its package would include the class. */
    static boolean mayInclude(String name) {
        return !name.startsWith(OWN) || OWN_TRANSFORMED.stream().anyMatch(name::startsWith);
    }

    /**
     * A field that a class, which is not to be transformed, uses of one that is: it would see what is not the object's,
     * and what it stores would be lost. Null if there is none. Costs a pass over the constants.
     *
     * @throws IllegalArgumentException if the class file is damaged
     */
    public String fieldUsed(ClassLoader loader, byte[] bytes) {
        Shapes shapes = null;
        for (PoolEntry entry : ClassFile.of().parse(bytes).constantPool()) {
            if (entry instanceof FieldRefEntry field && includes(field.owner().asInternalName())) {
                shapes = shapes == null ? shapes(loader) : shapes;
                if (shapes.declaring(field.owner().asInternalName(), field.name().stringValue(),
                        field.type().stringValue()) != null) {
                    return field.owner().asInternalName().replace('/', '.') + "." + field.name().stringValue();
                }
            }
        }
        return null;
    }

    private Shapes shapes(ClassLoader loader) {
        return new Shapes(loader, this::includes, known.computeIfAbsent(loader, key -> new ConcurrentHashMap<>()));
    }

    /**
     * A class after its transformation.
     *
     * @param bytes its class file; null if it was transformed before
     * @param refusals what of it cannot be transformed, so that instances of which classes cannot be persistent:
     *     messages by class names
     */
    public record Result(byte[] bytes, Map<String, String> refusals) {}

    /**
     * Transforms a class. Reads its superclasses, and the classes whose fields it uses, as resources of the loader;
     * loads none. Costs two passes over the code.
     *
     * @throws IllegalArgumentException if the class file is damaged
     */
    public Result transform(ClassLoader loader, String name, byte[] bytes) {
        return ClassRewriter.rewrite(shapes(loader), bytes);
    }
}
