package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program of the tutorial in {@code java/README.md}, taken from there: it compiles without a warning, and runs with
 * the agent, and without it when it was transformed before.
 */
class TutorialTest {
    private static final String JAR = System.getProperty("sas.jar");

    @TempDir
    Path directory;

    @BeforeEach
    void compile() throws Exception {
        Matcher program = Pattern.compile("```java\n(package com\\.acme;.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../README.md")));
        assertTrue(program.find(), "the tutorial has a program");
        Path source = Files.writeString(directory.resolve("Shop.java"), program.group(1));
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-cp", JAR, "-d",
                directory.resolve("out").toString(), "-Xlint:all,-path", "-Werror", source.toString()));
    }

    private String shop(int status, String... options) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command = new ArrayList<>(
                List.of(java, "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of(options));
        command.add("com.acme.Shop");
        Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(status, process.waitFor(), output);
        return output;
    }

    @Test
    void eachRunGoesOnWhereTheLastOneEnded() throws Exception {
        String[] withAgent = {"-javaagent:" + JAR + "=packages=com.acme", "-cp", "out"};
        assertEquals("Ann has [a book] and 70 left\n", shop(0, withAgent));
        assertEquals("Ann has [a book, a book] and 40 left\n", shop(0, withAgent));
        assertEquals(0, dev.norn.sas.command.SasCommand.run("transform", directory.resolve("out").toString(),
                "--packages", "com.acme"));
        String[] without = {"-cp", "out:" + JAR};
        assertEquals("Ann has [a book, a book, a book] and 10 left\n", shop(0, without));
        for (int round = 0; round < 2; round++) {
            assertTrue(shop(1, without).contains("Ann has no credit for a book"));
        }
        assertTrue(shop(1, "-cp", "out").contains("NoClassDefFoundError"), "norn-sas.jar is needed in either case");
    }
}
