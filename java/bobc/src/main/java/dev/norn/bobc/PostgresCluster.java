package dev.norn.bobc;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A PostgreSQL cluster of its own in a directory that goes with it, reached by a socket there. If this JVM is root's,
 * it runs as the user {@code postgres} of Debian's package, since the server refuses to run as root. The kernel has
 * the server stop when the thread is gone that began it, so also when this JVM is killed.
 */
final class PostgresCluster implements AutoCloseable {
    private static final Path DEBIAN = Path.of("/usr/lib/postgresql");
    private static final String USER = "postgres";
    private static final int START_SECONDS = 120;
    private static final int STOP_SECONDS = 60;
    private static final int POLL_MILLIS = 20;

    private final Scratch scratch;
    private final Path programs;
    private final Process server;
    private volatile Process client;

    /** Where the programs are, of the newest version. @throws IllegalArgumentException if they are nowhere */
    static Path programs() throws IOException {
        List<Path> places = new ArrayList<>();
        if (Files.isDirectory(DEBIAN)) {
            try (Stream<Path> versions = Files.list(DEBIAN)) {
                versions.sorted(Comparator.comparingDouble(PostgresCluster::version).reversed())
                        .forEach(version -> places.add(version.resolve("bin")));
            }
        }
        for (String place : System.getenv("PATH").split(File.pathSeparator)) {
            places.add(Path.of(place));
        }
        return places.stream().filter(place -> Files.isExecutable(place.resolve("initdb"))
                && Files.isExecutable(place.resolve("pgbench"))).findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "PostgreSQL is missing: run tools/ensure-postgresql, or leave POSTGRESQL out of --peers"));
    }

    private static double version(Path directory) {
        try {
            return Double.parseDouble(directory.getFileName().toString());
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /**
     * Makes the cluster and starts its server.
     *
     * @param clients that will be connected at once, at most
     * @throws RunFailed with what the programs have said, if that fails
     */
    PostgresCluster(Path parent, int clients) throws IOException, InterruptedException {
        programs = programs();
        scratch = new Scratch(parent);
        scratch.endFirst(this::end);
        try {
            if (isRoot()) {
                var users = scratch.path.getFileSystem().getUserPrincipalLookupService();
                Files.setOwner(scratch.path, users.lookupPrincipalByName(USER));
            }
            run(asOwner("initdb", "--pgdata=" + data(), "--username=" + USER, "--auth=trust", "--encoding=UTF8",
                    "--locale=C", "--no-sync"));
            server = begin(asOwner("postgres", "-D", data(), "-c", "listen_addresses=",
                    "-c", "unix_socket_directories=" + scratch.path, "-c", "fsync=on", "-c", "synchronous_commit=on",
                    "-c", "max_connections=" + Math.max(100, clients + 10)), file("server.log"));
            awaitStart();
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private String data() {
        return scratch.path.resolve("data").toString();
    }

    private Path file(String name) {
        return scratch.path.resolve(name);
    }

    /** A program as the cluster's owner, who is not root. It gets the signal for a fast stop if this JVM is gone. */
    private List<String> asOwner(String program, String... arguments) {
        List<String> command = new ArrayList<>(List.of("setpriv", "--pdeathsig=INT"));
        if (isRoot()) {
            command.addAll(List.of("--reuid=" + USER, "--regid=" + USER, "--init-groups"));
        }
        command.addAll(command(program, arguments));
        return command;
    }

    private List<String> command(String program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(programs.resolve(program).toString()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static Process begin(List<String> command, Path output) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PG"));
        builder.environment().put("LC_ALL", "C");
        return builder.start();
    }

    /** Runs a program to its end, and returns what it has said. */
    private String run(List<String> command) throws IOException, InterruptedException {
        Path output = file("output");
        client = begin(command, output);
        int status = client.waitFor();
        String said = Files.readString(output, StandardCharsets.UTF_8);
        if (status != 0) {
            throw new RunFailed(String.join(" ", command) + " ended with status " + status + ": " + said.strip()
                    + (isRoot() ? " (the user " + USER + " has to reach " + scratch.path.getParent() + ")" : ""));
        }
        return said;
    }

    private void awaitStart() throws IOException, InterruptedException {
        long start = System.nanoTime();
        while (begin(toServer("pg_isready", "-q"), file("output")).waitFor() != 0) {
            if (!server.isAlive() || System.nanoTime() - start > TimeUnit.SECONDS.toNanos(START_SECONDS)) {
                throw new RunFailed("PostgreSQL's server does not start: "
                        + Files.readString(file("server.log"), StandardCharsets.UTF_8).strip());
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    private List<String> toServer(String program, String... arguments) {
        List<String> command = command(program, "--host=" + scratch.path, "--username=" + USER, "--dbname=" + USER);
        command.addAll(List.of(arguments));
        return command;
    }

    /** Executes SQL, and returns the rows as text. */
    String execute(String sql) throws IOException, InterruptedException {
        return run(toServer("psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only",
                "--set=ON_ERROR_STOP=1", "--command=" + sql)).strip();
    }

    /**
     * Runs a script again and again.
     *
     * @param waits takes how long each run of it took
     * @return what pgbench has said
     */
    String bench(String script, int clients, int seconds, long seed, Waits waits)
            throws IOException, InterruptedException {
        Files.writeString(file("script"), script);
        int threads = Math.min(clients, Runtime.getRuntime().availableProcessors());
        List<String> command = command("pgbench", "--host=" + scratch.path, "--username=" + USER, "--no-vacuum",
                "--protocol=prepared", "--file=" + file("script"), "--client=" + clients, "--jobs=" + threads,
                "--time=" + seconds, "--random-seed=" + seed, "--log", "--log-prefix=" + file("waits"), USER);
        String said = run(command);
        try (Stream<Path> files = Files.list(scratch.path)) {
            for (Path log : files.filter(file -> file.getFileName().toString().startsWith("waits")).toList()) {
                addWaits(log, waits);
                Files.delete(log);
            }
        }
        return said;
    }

    /** The third word of each line is how long a transaction took, in microseconds. */
    private static void addWaits(Path log, Waits waits) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            lines.forEach(line -> waits.add(TimeUnit.MICROSECONDS.toNanos(Long.parseLong(line.split(" ")[2]))));
        }
    }

    /** Ends the processes; also when this JVM ends by a signal. */
    private void end() {
        if (client != null) {
            client.destroyForcibly();
        }
        if (server != null) {
            try {
                server.destroy();
                if (!server.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                    server.destroyForcibly().waitFor();
                }
            } catch (InterruptedException e) {
                server.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Stops the server, and removes the cluster. */
    @Override
    public void close() throws IOException {
        end();
        scratch.close();
    }
}
