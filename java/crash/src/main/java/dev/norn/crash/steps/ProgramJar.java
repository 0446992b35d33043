package dev.norn.crash.steps;

import dev.norn.crash.model.Kinds;
import dev.norn.sas.command.SasCommand;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.constant.ConstantDescs;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;

/**
 * The program of the child JVMs, as one jar: SAS with a step at each call of its store, the workload, and its
 * persistent classes, transformed as a build would do it. So children need no agent and start quickly. There are two
 * variants, whose classes {@link #CHANGED} have different fields: a store is converted from one to the other.
 */
public final class ProgramJar {
    /** Which fields these classes have. */
    public enum Variant {
        NARROW, WIDE;

        /** The one to which a store of this one is converted. */
        public Variant other() {
            return this == NARROW ? WIDE : NARROW;
        }
    }

    private static final String STORE = "dev/norn/sas/store/";
    /** What is called everywhere, and calls nothing that could be a step. */
    private static final Set<String> PLAIN = Set.of("memory/Memory", "memory/Format");
    private static final List<String> CHANGED = List.of("Link", "IdentityRegister$Key", "Kind3");
    private static final List<String> ADDED = List.of("added1", "added2", "added3");

    private final Path directory;
    private final Path sas;
    private final Path classes;
    private List<String> sites;

    /**
     * @param directory where it is built
     * @param sas norn-sas.jar, with what it needs beside it
     * @param classes the compiled classes of this module
     */
    public ProgramJar(Path directory, Path sas, Path classes) {
        this.directory = directory;
        this.sas = sas;
        this.classes = classes;
    }

    /** The classes whose fields differ. */
    public static List<String> changed() {
        return CHANGED.stream().map(type -> "dev.norn.crash.model." + type).toList();
    }

    /** The fields that only {@link Variant#WIDE} has in these classes, between commas. */
    public static String added(List<String> types) {
        return types.stream()
                .flatMap(type -> ADDED.stream().map(field -> type + "." + field)).collect(Collectors.joining(","));
    }

    public Path file(Variant variant) {
        return directory.resolve("program-" + variant.name().toLowerCase(java.util.Locale.ROOT) + ".jar");
    }

    /** What children have as their class path. */
    public String classPath(Variant variant) throws IOException {
        try (var beside = Files.newDirectoryStream(sas.getParent(), "picocli*.jar")) {
            return file(variant) + ":" + beside.iterator().next();
        }
    }

    /** What lets children of this variant start quickly, if it was made. */
    public Path cache(Variant variant) {
        return directory.resolve("program-" + variant.name().toLowerCase(java.util.Locale.ROOT) + ".aot");
    }

    /** The directory in which it is built. */
    public Path directory() {
        return directory;
    }

    /** The steps by their numbers. */
    public List<String> sites() {
        return sites;
    }

    /** Builds both variants, unless they are there and made of the same parts; returns whether it did. */
    public boolean build() throws IOException {
        Files.createDirectories(directory);
        Path built = directory.resolve("built.txt");
        String parts = parts();
        if (Files.exists(built) && Files.readString(built).equals(parts)) {
            sites = Files.readAllLines(directory.resolve("steps.txt"));
            return false;
        }
        Files.deleteIfExists(built);
        for (Variant variant : Variant.values()) {
            Path tree = directory.resolve("tree-" + variant);
            deleteTree(tree);
            copyModel(tree, variant);
            transform(tree);
            pack(tree, file(variant));
            deleteTree(tree);
        }
        Files.writeString(built, parts);
        return true;
    }

    /** A check of all that goes into the jars. */
    private String parts() throws IOException {
        CRC32C check = new CRC32C();
        check.update(Files.readAllBytes(sas));
        try (var files = Files.walk(classes)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".class")).sorted().toList()) {
                check.update(Files.readAllBytes(file));
            }
        }
        return Long.toHexString(check.getValue()) + " " + System.getProperty("java.vm.version");
    }

    private void copyModel(Path tree, Variant variant) throws IOException {
        Path model = tree.resolve("dev/norn/crash/model");
        Files.createDirectories(model);
        for (int kind = 0; kind < Kinds.COUNT; kind++) {
            Files.write(tree.resolve(KindClasses.name(kind) + ".class"), KindClasses.build(kind));
        }
        try (var files = Files.newDirectoryStream(classes.resolve("dev/norn/crash/model"))) {
            for (Path file : files) {
                Files.copy(file, model.resolve(file.getFileName()));
            }
        }
        for (String changed : variant == Variant.WIDE ? CHANGED : List.<String>of()) {
            Path file = model.resolve(changed + ".class");
            Files.write(file, widen(Files.readAllBytes(file)));
        }
    }

    private static byte[] widen(byte[] bytes) {
        ClassFile files = ClassFile.of();
        return files.transformClass(files.parse(bytes), java.lang.classfile.ClassTransform.endHandler(
                builder -> ADDED.forEach(
                        field -> builder.withField(field, ConstantDescs.CD_long, ClassFile.ACC_PRIVATE))));
    }

    private void transform(Path tree) {
        int status = SasCommand.run("transform", tree.toString(), "--packages", "dev.norn.crash.model",
                "--class-path", sas + ":" + classes);
        if (status != 0) {
            throw new IllegalStateException("the model cannot be transformed: status " + status);
        }
    }

    private void pack(Path tree, Path jar) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar); JarOutputStream packed = new JarOutputStream(out);
                var store = FileSystems.newFileSystem(sas);
                var loader = new URLClassLoader(new URL[] {sas.toUri().toURL()})) {
            Instrumentation instrumentation = new Instrumentation(loader);
            addAll(packed, store.getPath("/"), name -> true, instrumentation);
            addAll(packed, tree, name -> true, null);
            addAll(packed, classes, name -> name.startsWith("dev/norn/crash/program/"), null);
            sites = instrumentation.sites();
            Files.write(directory.resolve("steps.txt"), sites);
        }
    }

    private interface Choice {
        boolean takes(String name);
    }

    private static void addAll(JarOutputStream packed, Path root, Choice choice, Instrumentation instrumentation)
            throws IOException {
        try (var files = Files.walk(root)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".class")).sorted().toList()) {
                String name = root.relativize(file).toString();
                if (choice.takes(name)) {
                    byte[] bytes = Files.readAllBytes(file);
                    packed.putNextEntry(new JarEntry(name));
                    packed.write(instrumentation != null && isStep(name) ? instrumentation.instrument(bytes) : bytes);
                    packed.closeEntry();
                }
            }
        }
    }

    private static boolean isStep(String name) {
        return name.startsWith(STORE)
                && !PLAIN.contains(name.substring(STORE.length(), name.length() - ".class".length()));
    }

    private static void deleteTree(Path tree) throws IOException {
        if (Files.exists(tree)) {
            try (var files = Files.walk(tree)) {
                for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
