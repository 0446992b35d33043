package dev.norn.sas.store.transaction;

import static java.lang.constant.ConstantDescs.CD_void;

import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.heap.RangeTable;
import dev.norn.sas.store.memory.TransactionSlot;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Places in the store's code at which a JVM dies as with kill -9: the beginnings of methods, in copies of their classes
 * that come first on the class path of the JVM.
 */
public final class Cuts {
    private static final Map<Class<?>, Set<String>> METHODS = Map.of(
            Range.class, Set.of("clearStart"),
            RangeTable.class, Set.of("forget"),
            Recovery.class, Set.of("restore", "releaseLocks"),
            TransactionSlot.class, Set.of("markDone"),
            StoreTransaction.class, Set.of("commit"));

    private static int left;

    private Cuts() {}

    /** From here on, the JVM dies at the place that it comes to as the {@code nth}, from 1; 0 for never. */
    public static void arm(int nth) {
        left = nth;
    }

    /** Called at each place. */
    public static void reach() {
        if (left > 0 && --left == 0) {
            Runtime.getRuntime().halt(9);
        }
    }

    /** Writes the copies; returns the directory for the class path. */
    public static Path write(Path directory) throws IOException {
        for (var each : METHODS.entrySet()) {
            String name = each.getKey().getName().replace('.', '/') + ".class";
            Path file = directory.resolve(name);
            Files.createDirectories(file.getParent());
            try (var in = each.getKey().getClassLoader().getResourceAsStream(name)) {
                Files.write(file, cut(in.readAllBytes(), each.getValue()));
            }
        }
        return directory;
    }

    private static byte[] cut(byte[] bytes, Set<String> methods) {
        ClassFile files = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(Cuts.class.getClassLoader())
                        .orElse(ClassHierarchyResolver.defaultResolver())));
        var type = files.parse(bytes);
        List<String> all = type.methods().stream().map(method -> method.methodName().stringValue()).toList();
        if (!all.containsAll(methods)) {
            throw new AssertionError("of " + methods + ", " + type.thisClass().asInternalName() + " has only "
                    + all.stream().filter(methods::contains).collect(Collectors.joining(", ")));
        }
        return files.transformClass(type, ClassTransform.transformingMethodBodies(
                method -> methods.contains(method.methodName().stringValue()), entry()));
    }

    private static CodeTransform entry() {
        return new CodeTransform() {
            @Override
            public void atStart(CodeBuilder code) {
                code.invokestatic(ClassDesc.of(Cuts.class.getName()), "reach", MethodTypeDesc.of(CD_void));
            }

            @Override
            public void accept(CodeBuilder code, CodeElement element) {
                code.with(element);
            }
        };
    }
}
