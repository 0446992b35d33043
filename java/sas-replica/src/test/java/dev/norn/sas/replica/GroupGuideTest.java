package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Group;
import dev.norn.sas.Store;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The program of {@code docs/guide/replicas.md}, taken from there: it compiles without a warning, and three of it keep
 * what they have answered while their leader is killed, and while followers are frozen.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GroupGuideTest {
    private static final String NO_ANSWER = "ask another machine, or again";
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(180);

    @TempDir
    Path directory;
    private final Map<String, String> members = new TreeMap<>();
    private final Map<String, Process> programs = new TreeMap<>();

    private static String classPath() {
        Path jar = Path.of(System.getProperty("replica.jar"));
        return System.getProperty("sas.jar") + ":" + jar + ":" + jar.resolveSibling("libraries") + "/*";
    }

    private void compile() throws IOException {
        Matcher program = Pattern.compile("```java\n(package com\\.acme;.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../../docs/guide/replicas.md")));
        assertTrue(program.find(), "the guide has a program");
        Path source = Files.writeString(directory.resolve("Service.java"), program.group(1));
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, "-cp",
                System.getProperty("sas.jar"), "-d", directory.resolve("out").toString(), "-Xlint:all,-path",
                "-Werror", source.toString()));
    }

    private void start(String name) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
                "-javaagent:" + System.getProperty("sas.jar") + "=packages=com.acme",
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                "-cp", directory.resolve("out") + ":" + classPath(), "com.acme.Service",
                directory.resolve(name).toString(), name));
        members.forEach((its, address) -> command.add(its + "=" + address));
        programs.put(name, new ProcessBuilder(command).redirectError(
                ProcessBuilder.Redirect.appendTo(said(name).toFile())).start());
    }

    private Path said(String name) {
        return directory.resolve(name + ".err");
    }

    private String errors() throws IOException {
        StringBuilder all = new StringBuilder();
        for (String name : members.keySet()) {
            all.append(name).append(": ").append(Files.exists(said(name)) ? Files.readString(said(name)) : "\n");
        }
        return all.toString();
    }

    private String ask(String name, String request) throws IOException {
        send(name, request);
        return programs.get(name).inputReader().readLine();
    }

    private void send(String name, String request) throws IOException {
        programs.get(name).outputWriter().write(request + "\n");
        programs.get(name).outputWriter().flush();
    }

    /** As a client does: asks all in turn. Returns who has answered. */
    private String askUntil(String answer, String request) throws IOException {
        long start = System.nanoTime();
        for (;;) {
            for (String name : programs.keySet()) {
                String its = ask(name, request);
                if (answer.equals(its)) {
                    return name;
                }
                assertEquals(NO_ANSWER, its, errors());
            }
            assertTrue(System.nanoTime() - start < WAIT_NANOS, () -> {
                try {
                    return errors();
                } catch (IOException e) {
                    return e.toString();
                }
            });
        }
    }

    private void signal(String name, String signal) throws Exception {
        new ProcessBuilder("kill", "-" + signal, Long.toString(programs.get(name).pid())).start().waitFor();
    }

    @AfterEach
    void end() throws Exception {
        for (Process program : programs.values()) {
            program.destroyForcibly().waitFor();
        }
    }

    @Test
    void theProgramAnswersEachRequestOnce() throws Exception {
        compile();
        Store.create(directory.resolve("a"), Store.Options.defaults()).close();
        Group.found(directory.resolve("a"), List.of(directory.resolve("b"), directory.resolve("c")));
        for (String name : List.of("a", "b", "c")) {
            try (ServerSocket socket = new ServerSocket(0)) {
                members.put(name, "127.0.0.1:" + socket.getLocalPort());
            }
        }
        for (String name : members.keySet()) {
            start(name);
        }
        String first = askUntil("book is sold as number 1", "1 book");
        assertEquals("pen is sold as number 2", ask(first, "2 pen"));
        assertEquals("book is sold as number 1", ask(first, "1 book"));

        programs.remove(first).destroyForcibly().waitFor();
        askUntil("pen is sold as number 2", "2 pen");
        start(first);
        // The followers take nothing, so the leader learns of no majority in time.
        String second = askUntil("cup is sold as number 3", "3 cup");
        for (String name : members.keySet()) {
            signal(name, name.equals(second) ? "CONT" : "STOP");
        }
        send(second, "4 hat");
        long start = System.nanoTime();
        while (!Files.readString(said(second)).contains("before a majority had acknowledged it")) {
            assertTrue(System.nanoTime() - start < WAIT_NANOS, errors());
            Thread.sleep(50);
        }
        for (String name : members.keySet()) {
            signal(name, "CONT");
        }
        assertEquals(NO_ANSWER, programs.get(second).inputReader().readLine(), errors());
        assertTrue(Pattern.compile("request 4 is (COMMITTED|UNDONE)").matcher(Files.readString(said(second))).find(),
                errors());
        askUntil("hat is sold as number 4", "4 hat");
        askUntil("bag is sold as number 5", "5 bag");

        for (Process program : programs.values()) {
            program.outputWriter().close();
            assertEquals(0, program.waitFor(), errors());
        }
    }
}
