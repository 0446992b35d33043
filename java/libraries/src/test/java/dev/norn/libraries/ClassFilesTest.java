package dev.norn.libraries;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.agent.Transformation;
import java.io.IOException;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.lang.classfile.ClassFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every class of a library is transformed, the verifier finds nothing in the result, a second transformation leaves it
 * alone, and what serialization takes for its version stays the same.
 */
class ClassFilesTest {
    private static final List<String> ALL =
            List.of("org.apache.commons", "com.google.common", "junit", "org.assertj", "org.mockito");

    @ParameterizedTest
    @CsvSource({"commons-lang3, 300", "commons-collections4, 400", "commons-text, 100", "guava-3, 1500"})
    void everyClassIsTransformedAndVerified(String library, int classesMin) throws Exception {
        Path path = Jvm.jar(library, library.startsWith("guava") ? "-jre.jar" : ".0.jar");
        var transformation = new Transformation(ALL);
        List<String> wrong = new ArrayList<>();
        int classes = 0;
        try (JarFile jar = new JarFile(path.toFile())) {
            for (var entry : jar.stream().filter(entry -> isClass(entry.getName())).toList()) {
                String name = entry.getName().replaceAll("\\.class$", "");
                byte[] bytes = jar.getInputStream(entry).readAllBytes();
                try {
                    Transformation.Result result = transformation.transform(getClass().getClassLoader(), name, bytes);
                    assertEquals(Map.of(), result.refusals(), name);
                    ClassFile.of().verify(result.bytes()).forEach(error -> wrong.add(name + ": " + error.getMessage()));
                    boolean isHandle = ClassFile.of().parse(result.bytes()).methods().stream()
                            .anyMatch(method -> method.methodName().equalsString("$sas$layout"));
                    assertTrue(!isHandle || transformation.transform(getClass().getClassLoader(), name, result.bytes())
                            .bytes() == null, name);
                } catch (RuntimeException e) {
                    wrong.add(name + ": " + e);
                }
                classes++;
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(classes >= classesMin, classes + " classes");
    }

    private static boolean isClass(String entry) {
        return entry.endsWith(".class") && !entry.endsWith("module-info.class") && !entry.endsWith("package-info.class")
                && !entry.startsWith("META-INF");
    }

    /** The version numbers of serializable classes, as this JVM sees them, and as one with the agent does. */
    @ParameterizedTest
    @CsvSource({"commons-lang3", "commons-collections4", "guava-3"})
    void serialVersionsStay(String library, @TempDir Path directory) throws Exception {
        Path jar = library.startsWith("guava") ? Jvm.jar(library, "-jre.jar") : Jvm.jar(library, ".0.jar");
        List<String> plain = versions(jar, directory, "-Dlibraries.plain=true");
        assertTrue(plain.size() > 40, plain.size() + " classes");
        List<String> transformed = versions(jar, directory, Jvm.sasAgent("org.apache.commons", "com.google.common"));
        assertEquals(String.join("\n", plain), String.join("\n", transformed));
    }

    private static List<String> versions(Path jar, Path directory, String option) throws Exception {
        Path log = directory.resolve("log");
        assertEquals(0, new Jvm().with(option).run(log, SerialProgram.class, jar));
        return Files.readAllLines(log).stream().filter(line -> line.startsWith("class ")).toList();
    }

    /** Says the version number of each serializable class of a jar. */
    static final class SerialProgram {
        public static void main(String[] arguments) throws IOException {
            versions(Path.of(arguments[0])).forEach(System.out::println);
        }

        static List<String> versions(Path path) throws IOException {
            List<String> lines = new ArrayList<>();
            try (JarFile jar = new JarFile(path.toFile())) {
                for (var entry : jar.stream().filter(entry -> isClass(entry.getName())).toList()) {
                    Class<?> type;
                    try {
                        type = Class.forName(entry.getName().replaceAll("\\.class$", "").replace('/', '.'), false,
                                SerialProgram.class.getClassLoader());
                    } catch (ReflectiveOperationException | LinkageError e) {
                        continue;
                    }
                    if (Serializable.class.isAssignableFrom(type) && !type.isInterface() && !type.isEnum()) {
                        lines.add("class " + type.getName() + " "
                                + ObjectStreamClass.lookup(type).getSerialVersionUID());
                    }
                }
            }
            return lines;
        }
    }
}
