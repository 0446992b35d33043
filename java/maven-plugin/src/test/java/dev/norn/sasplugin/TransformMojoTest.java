package dev.norn.sasplugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.logging.Log;
import org.apache.maven.plugin.logging.SystemStreamLog;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The goal transforms a directory of classes, which then run with norn-sas.jar and without its agent; doing it twice
 * changes nothing.
 */
class TransformMojoTest {
    private static final String GARDEN = "org/example/garden/Garden.class";

    @TempDir
    Path directory;
    private Path classes;
    private Log log = new SystemStreamLog();

    @BeforeEach
    void copyClasses() throws Exception {
        classes = directory.resolve("classes");
        Path compiled = Path.of(TransformMojoTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Files.createDirectories(classes.resolve(GARDEN).getParent());
        try (var files = Files.list(compiled.resolve(GARDEN).getParent())) {
            for (Path file : files.toList()) {
                Files.copy(file, classes.resolve(GARDEN).resolveSibling(file.getFileName()));
            }
        }
    }

    private static String dependencies() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(path -> !path.contains("test-classes"))
                .reduce((a, b) -> a + File.pathSeparator + b).orElseThrow();
    }

    private void transform(List<String> packages) throws Exception {
        TransformMojo mojo = new TransformMojo();
        set(mojo, "packages", packages);
        set(mojo, "classesDirectory", classes.toFile());
        set(mojo, "classPath", List.of(dependencies().split(File.pathSeparator)));
        mojo.setLog(log);
        mojo.execute();
    }

    /** As Maven does. */
    private static void set(TransformMojo mojo, String parameter, Object value) throws ReflectiveOperationException {
        Field field = TransformMojo.class.getDeclaredField(parameter);
        field.setAccessible(true);
        field.set(mojo, value);
    }

    private String garden() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp", classes + File.pathSeparator + dependencies(),
                "org.example.garden.Garden", directory.resolve("store").toString()).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes());
        process.waitFor();
        return said;
    }

    @Test
    void whatWasTransformedRunsWithoutAnAgent() throws Exception {
        assertTrue(garden().contains("cannot be persistent"), "before");
        Files.walk(directory.resolve("store")).sorted(java.util.Comparator.reverseOrder())
                .forEach(path -> path.toFile().delete());
        transform(List.of("org.example.garden"));
        assertEquals("planted\n", garden());
        assertEquals("1 leaves\n", garden());
        byte[] once = Files.readAllBytes(classes.resolve(GARDEN));
        transform(List.of("org.example.garden"));
        assertTrue(Arrays.equals(once, Files.readAllBytes(classes.resolve(GARDEN))), "the second time changes nothing");
        assertEquals("2 leaves\n", garden());
    }

    @Test
    void otherPackagesStayAsTheyAre() throws Exception {
        byte[] before = Files.readAllBytes(classes.resolve(GARDEN));
        List<String> warnings = new ArrayList<>();
        log = new SystemStreamLog() {
            @Override
            public void warn(CharSequence text) {
                warnings.add(text.toString());
            }
        };
        transform(List.of("org.example.other"));
        assertEquals(List.of("nothing is transformed: no class in " + classes
                + " is of org.example.other; it has classes of org.example.garden"), warnings);
        assertTrue(Arrays.equals(before, Files.readAllBytes(classes.resolve(GARDEN))));
    }

    @Test
    void aDamagedClassFileIsNamed() throws Exception {
        Files.write(classes.resolve("org/example/garden/Broken.class"), new byte[] {1, 2, 3});
        var thrown = assertThrows(MojoExecutionException.class, () -> transform(List.of("org.example.garden")));
        assertTrue(thrown.getMessage().contains("Broken.class"), thrown.getMessage());
    }

    /** A method that grows past what a method may have is left, and its class refused. */
    @Test
    void aMethodThatIsTooLargeFailsTheBuild() throws Exception {
        Files.write(classes.resolve("org/example/garden/Table.class"),
                LargeMethod.classFile("org.example.garden.Table", 9_000));
        var thrown = assertThrows(MojoFailureException.class, () -> transform(List.of("org.example.garden")));
        assertTrue(thrown.getMessage().contains("org.example.garden.Table")
                && thrown.getMessage().contains("too large"), thrown.getMessage());
        assertFalse(Arrays.equals(LargeMethod.classFile("org.example.garden.Table", 9_000),
                Files.readAllBytes(classes.resolve("org/example/garden/Table.class"))));
    }
}
