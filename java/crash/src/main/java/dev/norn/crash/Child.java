package dev.norn.crash;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A child JVM: what it says line by line, and the signals that it gets. */
class Child {
    /** What a child says last: its standard output has ended. */
    private static final String END = "end";

    private final String name;
    private final Process process;
    private final Path errors;
    private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private volatile String reached;

    Child(String name, List<String> command, Path errors) throws IOException {
        this.name = name;
        this.errors = errors;
        process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        Thread.ofVirtual().start(this::read);
    }

    private void read() {
        try (var from = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = from.readLine(); line != null; line = from.readLine()) {
                if (line.startsWith("reached ")) {
                    reached = line;
                } else {
                    lines.add(line);
                }
            }
        } catch (IOException e) {
            // It ends where the process does.
        }
        lines.add(END);
    }

    /** The next line; null if the process has ended. */
    String line(Watchdog watchdog) throws InterruptedException {
        String line = lines.poll(watchdog.seconds(), TimeUnit.SECONDS);
        if (line == null) {
            throw watchdog.bark(name + " says nothing");
        }
        if (line.equals(END)) {
            lines.add(END);
            return null;
        }
        return line;
    }

    void say(String text) throws IOException {
        OutputStream to = process.getOutputStream();
        to.write(text.getBytes(StandardCharsets.UTF_8));
        to.flush();
    }

    /** Ends its standard input, which ends it. */
    void endInput() throws IOException {
        process.getOutputStream().close();
    }

    /** The step that it said it had reached last; null if none. */
    String reached() {
        return reached;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    String name() {
        return name;
    }

    int exit() throws InterruptedException {
        return process.waitFor();
    }

    void kill() throws InterruptedException {
        process.toHandle().destroyForcibly();
        process.waitFor();
    }

    /** Sends it a signal by its name. */
    void signal(String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, "" + pid())
                .redirectError(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    }

    /** What it wrote on its standard error. */
    String errors() throws IOException {
        return Files.readString(errors).strip();
    }
}
