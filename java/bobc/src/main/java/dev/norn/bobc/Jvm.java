package dev.norn.bobc;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Other JVMs with the same class path, with or without the agent. */
final class Jvm {
    private Jvm() {}

    static Process start(PeerKind kind, List<String> options, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(options);
        if (kind.needsAgent()) {
            command.add("-javaagent:" + sasJar() + "=packages=dev.norn.bobc.model");
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), BobcCommand.class.getName()));
        command.addAll(arguments);
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static String sasJar() {
        String jar = System.getProperty("sas.jar");
        if (jar == null) {
            throw new IllegalStateException("-Dsas.jar=PATH has to say where norn-sas.jar is; tools/bobc does");
        }
        return jar;
    }
}
