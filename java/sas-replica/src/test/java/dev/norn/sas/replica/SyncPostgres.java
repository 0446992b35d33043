package dev.norn.sas.replica;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * PostgreSQL with standbys that a commit waits for, in a directory of its own, reached by sockets there. If this JVM
 * is root's, the servers run as the user {@code postgres} of Debian's package. The kernel ends them with the thread
 * that began them.
 */
final class SyncPostgres implements AutoCloseable {
    private static final Path DEBIAN = Path.of("/usr/lib/postgresql");
    private static final String USER = "postgres";
    private static final int POLL_MILLIS = 20;

    private final Path directory;
    private final Path programs;
    private final List<Process> servers = new ArrayList<>();

    /** How many transactions pgbench has done a second, and how long they took, in microseconds, in order. */
    record Outcome(double rate, long[] micros) {}

    /** Whether the server and pgbench are there. */
    static boolean isThere() throws IOException {
        return programs() != null;
    }

    private static Path programs() throws IOException {
        if (Files.notExists(DEBIAN)) {
            return null;
        }
        try (Stream<Path> versions = Files.list(DEBIAN)) {
            return versions.map(version -> version.resolve("bin")).filter(bin -> Files.exists(bin.resolve("initdb"))
                    && Files.exists(bin.resolve("pgbench"))).max(Path::compareTo).orElse(null);
        }
    }

    /** Starts a primary with standbys, one of which at least has to have a commit on disk. */
    SyncPostgres(Path directory, int standbys) throws Exception {
        this.directory = Files.createDirectories(directory);
        programs = programs();
        own(directory);
        run(program("initdb", "--pgdata=" + data("primary"), "--username=" + USER, "--auth=trust", "--locale=C",
                "--no-sync"));
        start("primary", "");
        List<String> names = new ArrayList<>();
        for (int i = 1; i <= standbys; i++) {
            names.add("standby" + i);
            run(program("pg_basebackup", "--pgdata=" + data("standby" + i), "--host=" + directory,
                    "--username=" + USER, "--checkpoint=fast", "--no-sync", "--write-recovery-conf"));
            Files.writeString(data("standby" + i).resolve("postgresql.auto.conf"), "\nprimary_conninfo = 'host="
                    + directory + " user=" + USER + " application_name=standby" + i + "'\n",
                    java.nio.file.StandardOpenOption.APPEND);
            start("standby" + i, "");
        }
        execute("alter system set synchronous_standby_names = 'ANY 1 (" + String.join(",", names) + ")'");
        execute("select pg_reload_conf()");
        while (!execute("select count(*) from pg_stat_replication where sync_state = 'quorum'")
                .equals(Integer.toString(standbys))) {
            Thread.sleep(POLL_MILLIS);
        }
    }

    private void own(Path path) throws IOException {
        if (isRoot()) {
            // The servers' user has to reach the directory.
            for (Path one = path; one.getNameCount() > 1; one = one.getParent()) {
                run(List.of("chmod", "a+x", one.toString()));
            }
            Files.setOwner(path, path.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(USER));
        }
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private Path data(String server) {
        return directory.resolve(server);
    }

    private List<String> program(String name, String... arguments) {
        List<String> command = new ArrayList<>(List.of("setpriv", "--pdeathsig=INT"));
        if (isRoot()) {
            command.addAll(List.of("--reuid=" + USER, "--regid=" + USER, "--init-groups"));
        }
        command.add(programs.resolve(name).toString());
        command.addAll(Arrays.asList(arguments));
        return command;
    }

    private static Process begin(List<String> command, Path output) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().put("LC_ALL", "C");
        return builder.start();
    }

    private String run(List<String> command) throws IOException {
        Path output = directory.resolve("output");
        try {
            int status = begin(command, output).waitFor();
            String said = Files.readString(output, StandardCharsets.UTF_8);
            if (status != 0) {
                throw new IOException(String.join(" ", command) + ": " + said);
            }
            return said;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private void start(String name, String option) throws IOException, InterruptedException {
        Process server = begin(program("postgres", "-D", data(name).toString(), "-c", "listen_addresses=",
                "-c", "unix_socket_directories=" + (name.equals("primary") ? directory : data(name)),
                "-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "max_connections=100",
                "-c", "max_wal_senders=5"), directory.resolve(name + ".log"));
        servers.add(server);
        while (begin(program("pg_isready", "-q", "--host="
                + (name.equals("primary") ? directory : data(name))), directory.resolve("output")).waitFor() != 0) {
            if (!server.isAlive()) {
                throw new IOException(Files.readString(directory.resolve(name + ".log")));
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    String execute(String sql) throws IOException {
        return run(program("psql", "--host=" + directory, "--username=" + USER, "--no-psqlrc", "--quiet", "--no-align",
                "--tuples-only", "--set=ON_ERROR_STOP=1", "--command=" + sql)).strip();
    }

    /** Makes accounts from 0, with room for new versions of rows on each page. */
    void openAccounts(int count) throws IOException {
        execute("create table account (id integer primary key, balance bigint not null) with (fillfactor = 50)");
        execute("insert into account select id, 0 from generate_series(0, " + (count - 1) + ") id");
        execute("vacuum analyze account");
    }

    /** Adds to accounts by chance, for some seconds. */
    Outcome bench(int accounts, int clients, int seconds) throws IOException {
        Path script = directory.resolve("script");
        Files.writeString(script, "\\set id random(0, " + (accounts - 1)
                + ")\nupdate account set balance = balance + 1 where id = :id;\n");
        run(program("pgbench", "--host=" + directory, "--username=" + USER, "--no-vacuum", "--protocol=prepared",
                "--file=" + script, "--client=" + clients, "--jobs=" + Math.min(clients, 2), "--time=" + seconds,
                "--log", "--log-prefix=" + directory.resolve("waits"), USER));
        List<String> lines = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path log : files.filter(file -> file.getFileName().toString().startsWith("waits.")).toList()) {
                lines.addAll(Files.readAllLines(log));
                Files.delete(log);
            }
        }
        // The third word is how long a transaction took.
        long[] micros = lines.stream().mapToLong(line -> Long.parseLong(line.split(" ")[2])).sorted().toArray();
        return new Outcome(micros.length / (double) seconds, micros);
    }

    @Override
    public void close() throws Exception {
        for (Process server : servers.reversed()) {
            server.destroy();
            server.waitFor();
        }
    }
}
