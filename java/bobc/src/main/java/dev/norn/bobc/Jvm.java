package dev.norn.bobc;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Another JVM with the same class path, for a peer: with the agent where the peer needs it, and with the options that
 * its libraries need. It does not outlive this one.
 */
final class Jvm implements AutoCloseable {
    /** What a JVM says that waits until it may go on. */
    private static final String READY = "ready";
    private static final long GIGABYTE = 1L << 30;
    /** Seconds that a JVM which has said its figures has to end. */
    private static final int END_SECONDS = 60;
    private static final int KILL_SECONDS = 10;

    private final String what;
    private final Process process;
    private final BufferedReader output;
    private final Thread complaints;
    private final Thread killer;
    private volatile String complaint = "";

    /**
     * Starts it.
     *
     * @param heap as {@code -Xmx} takes it; null for what the peer needs
     * @param options more of them, for the JVM
     * @param prefix a command that runs what follows it; may be empty
     */
    Jvm(PeerKind kind, String heap, List<String> options, List<String> arguments, List<String> prefix)
            throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-Dsas.jar=" + sasJar(),
                "-Xmx" + (heap == null ? defaultHeap(kind) : heap)));
        command.addAll(kind.jvmOptions());
        command.addAll(options);
        String more = System.getenv("BOBC_JAVA_OPTIONS");
        if (more != null && !more.isBlank()) {
            command.addAll(List.of(more.trim().split(" +")));
        }
        if (kind.needsAgent()) {
            command.add("-javaagent:" + sasJar() + "=packages=dev.norn.bobc.model");
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), BobcCommand.class.getName()));
        command.addAll(arguments);
        what = String.join(" ", arguments);
        process = new ProcessBuilder(command).start();
        complaints = Thread.ofPlatform().daemon().start(this::passErrorsOn);
        output = process.inputReader();
        killer = new Thread(this::kill);
        Runtime.getRuntime().addShutdownHook(killer);
    }

    /** 2 GB; for data on the heap a third of the memory that is free now, from 2 to 12 GB. */
    static String defaultHeap(PeerKind kind) throws IOException {
        if (kind.data == PeerKind.Data.ELSEWHERE) {
            return "2g";
        }
        for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
            if (line.startsWith("MemAvailable:")) {
                long third = Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024 / 3;
                return Math.clamp(third, 2 * GIGABYTE, 12 * GIGABYTE) / (1 << 20) + "m";
            }
        }
        return "2g";
    }

    private static String sasJar() {
        String jar = System.getProperty("sas.jar");
        if (jar == null) {
            throw new IllegalStateException("-Dsas.jar=PATH has to say where norn-sas.jar is; tools/bobc does");
        }
        return jar;
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** The first line that is not a warning of the JVM's is the cause. */
    private void passErrorsOn() {
        process.errorReader().lines().forEach(line -> {
            System.err.println(line);
            if (complaint.isEmpty() && !line.startsWith("WARNING") && !line.isBlank()) {
                complaint = line;
            }
        });
    }

    /** How one of several JVMs is started. */
    interface Starter {
        /** @param number from 0 */
        Jvm start(int number) throws IOException;
    }

    /**
     * Starts several, lets them go on at once when all are ready, and reads the figures of each.
     *
     * @param others takes the lines that are no figures
     * @throws RunFailed if one does not get ready, ends with another status than 0, or without figures
     */
    static List<Figures> together(int count, Starter starter, Consumer<String> others)
            throws IOException, InterruptedException {
        List<Jvm> all = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                all.add(starter.start(i));
            }
            for (Jvm jvm : all) {
                jvm.awaitReady();
            }
            for (Jvm jvm : all) {
                jvm.goOn();
            }
            List<Figures> figures = new ArrayList<>();
            for (Jvm jvm : all) {
                figures.add(jvm.figures(others));
            }
            return figures;
        } finally {
            all.forEach(Jvm::close);
        }
    }

    /** Said by a JVM that was started so: it is ready, and waits until it may go on. */
    static void sayReadyAndWait() throws IOException {
        System.out.println(READY);
        if (System.in.read() < 0) {
            throw new RunFailed("the process that started this one has ended");
        }
    }

    /** @throws RunFailed if it says something else, or nothing */
    void awaitReady() throws IOException, InterruptedException {
        String line = output.readLine();
        if (!READY.equals(line)) {
            throw line == null ? failed("") : failed("instead of \"" + READY + "\" it said: " + line);
        }
    }

    /** Sends an empty line to one that is ready. */
    void goOn() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    /**
     * Reads its figures and waits for its end.
     *
     * @param others takes the lines that are no figures
     * @throws RunFailed if it ends with another status than 0, or without figures
     */
    Figures figures(Consumer<String> others) throws IOException, InterruptedException {
        List<Figures> found = new ArrayList<>();
        List<String> last = new ArrayList<>();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (Figures.isEncoded(line)) {
                found.add(Figures.decode(line));
            } else {
                others.accept(line);
                last.add(line);
                if (last.size() > 10) {
                    last.removeFirst();
                }
            }
        }
        boolean hasEnded = process.waitFor(END_SECONDS, TimeUnit.SECONDS);
        if (!hasEnded || process.exitValue() != 0 || found.isEmpty()) {
            throw failed(String.join("\n", last));
        }
        return found.getLast();
    }

    private RunFailed failed(String said) throws InterruptedException {
        if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
            return new RunFailed("\"" + what + "\" does not end: its JVM is killed. " + said);
        }
        complaints.join();
        int status = process.exitValue();
        String how = switch (status) {
            case 0 -> "ended well, but without figures";
            case 137 -> "was killed (status 137) by a user, or by the kernel because the machine or its control "
                    + "group has no memory left; see dmesg";
            case 134, 135, 139 -> "crashed (status " + status + "); its hs_err file is in the directory where it ran";
            default -> "ended with status " + status;
        };
        return new RunFailed("\"" + what + "\" " + how + (complaint.isEmpty() ? "" : ": " + complaint)
                + (said.isEmpty() ? "" : "; it said last:\n" + said));
    }

    /** Lets it remove its files first. */
    private void kill() {
        try {
            process.destroy();
            if (!process.waitFor(KILL_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                process.waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** Ends it if it is still there. */
    @Override
    public void close() {
        kill();
        try {
            Runtime.getRuntime().removeShutdownHook(killer);
        } catch (IllegalStateException e) {
            // This JVM ends already, and the hook has run or is going to.
        }
    }
}
