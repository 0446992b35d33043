package dev.norn.libraries;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A child JVM with the libraries on its class path, and agents. */
final class Jvm {
    private final List<String> options = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx1500m", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "--enable-native-access=ALL-UNNAMED",
            "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir")));

    static String sasAgent(String... packages) {
        return "-javaagent:" + System.getProperty("sas.jar") + "=packages=" + String.join(",", packages);
    }

    Jvm with(String... more) {
        options.addAll(List.of(more));
        return this;
    }

    /** The file on this JVM's class path whose name starts and ends so. */
    static Path jar(String start, String end) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(Path::of)
                .filter(path -> path.getFileName().toString().startsWith(start)
                        && path.getFileName().toString().endsWith(end))
                .findFirst().orElseThrow(() -> new AssertionError("no " + start + "…" + end + " on the class path"));
    }

    /** Runs the program; its output goes to {@code log}. Returns its exit code. */
    int run(Path log, Class<?> program, Object... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        Arrays.stream(arguments).map(Object::toString).forEach(command::add);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            if (!process.waitFor(30, TimeUnit.MINUTES)) {
                throw new AssertionError(program.getSimpleName() + " has not ended in 30 minutes: " + log);
            }
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }
}
