package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program whose agent is forgotten, has other packages, or not all of them: the messages that it gets. */
class MistakesTest {
    @TempDir
    static Path directory;

    @BeforeAll
    static void compile() throws Exception {
        write("com/acme/Thing.java",
                "package com.acme; public class Thing { public int size; public int size() { return size; } }");
        write("com/acme/Special.java", "package com.acme; public class Special extends org.outside.Base { int more; }");
        write("org/outside/Base.java", "package org.outside; public class Base { int its; }");
        write("org/outside/Main.java", """
                package org.outside;
                import dev.norn.sas.*;
                import dev.norn.sas.exception.SASException;
                public class Main {
                    public static void main(String[] arguments) throws Exception {
                        Store.Options options = Store.Options.defaults().withLogBytes(1 << 20);
                        try (Store store = Store.create(java.nio.file.Path.of(arguments[0]), options)) {
                            Object made = Factory.newPermInstance(Class.forName(arguments[1]));
                            if (made instanceof com.acme.Thing thing && arguments.length > 2) thing.size = 5;
                        } catch (SASException e) {
                            System.out.println(e.getMessage());
                        }
                    }
                }
                """);
        List<String> arguments = new ArrayList<>(List.of("-d", directory.resolve("classes").toString(),
                "-cp", System.getProperty("sas.jar")));
        try (var sources = Files.walk(directory.resolve("src"))) {
            sources.filter(path -> path.toString().endsWith(".java")).forEach(path -> arguments.add(path.toString()));
        }
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)));
    }

    private static void write(String name, String source) throws Exception {
        Path file = directory.resolve("src").resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, source);
    }

    private static int stores;

    /** What the program says that makes an instance of this class, and its status if that is not 0. */
    private static String run(String agent, String type) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(
                List.of(java, "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED"));
        if (agent != null) {
            command.add("-javaagent:" + System.getProperty("sas.jar") + "=" + agent);
        }
        command.addAll(List.of("-cp", directory.resolve("classes") + ":" + System.getProperty("sas.jar"),
                "org.outside.Main", directory.resolve("store" + stores++).toString(), type));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        return status == 0 ? output : output + "status " + status;
    }

    private static void assertSaid(String expected, String output) {
        assertTrue(output.contains(expected), output);
    }

    @Test
    void whyAClassIsNotTransformedIsSaid() throws Exception {
        assertSaid("no agent runs in this JVM: name its package in -javaagent", run(null, "com.acme.Thing"));
        assertSaid("com.acme.Thing cannot be persistent: it is not among the agent's packages, [com.acmee]",
                run("packages=com.acmee", "com.acme.Thing"));
        assertSaid("com.acme.Special cannot be persistent: it extends org.outside.Base, "
                + "which is not among the agent's packages, [com.acme]", run("packages=com.acme", "com.acme.Special"));
        assertSaid("java.util.ArrayList cannot be persistent: it is a class of the JDK",
                run("packages=com.acme", "java.util.ArrayList"));
    }

    @Test
    void aMisspeltArgumentOfTheAgentIsAMessageAndAStatus() throws Exception {
        assertEquals("sas: -javaagent:norn-sas.jar takes packages=NAME,NAME…, not package=com.acme\nstatus 2",
                run("package=com.acme", "com.acme.Thing"));
        String notAName = "' is not a package name: write com.acme; several names are separated by commas; "
                + "subpackages are included\nstatus 2";
        for (String name : new String[] {"com.*", "", "com/acme", "com.acme;org.x"}) {
            assertEquals("sas: -javaagent:norn-sas.jar=packages=" + name + ": '" + name + notAName, run("packages="
                    + name, "com.acme.Thing"));
        }
        assertSaid("classes of java.util belong to the JDK and are not transformed", run("packages=com.acme,java.util",
                "com.acme.Thing"));
        assertSaid("classes of dev.norn.sas belong to SAS itself and are not transformed", run("packages=dev.norn.sas",
                "com.acme.Thing"));
    }

    @Test
    void aClassThatIsNotTransformedAndUsesFieldsItselfIsNamed() throws Exception {
        assertSaid("sas: org.outside.Main uses the field com.acme.Thing.size directly, but is not transformed",
                run("packages=com.acme", "com.acme.Thing"));
        assertFalse(run("packages=com.acme,org.outside", "com.acme.Thing").contains("uses the field"));
    }
}
