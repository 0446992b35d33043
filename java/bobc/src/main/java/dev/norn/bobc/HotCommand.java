package dev.norn.bobc;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bobc hot}: which rows there are, and their rounds. */
@Command(name = "hot", sortOptions = false, description = {
    "Many clients increment the same balance, each time by one in a separate transaction: balance++ in Transaction.run,"
        + " and \"update … set balance = balance + 1\" of PostgreSQL and SQLite.",
    "Every row runs in each round, in JVMs and PostgreSQL clusters of its own, which are removed afterwards."
        + " After a run the data are opened again, and the sum has to equal the acknowledged changes.",
    "Prints a table with medians of the rounds, and the bars beside what was measured; each run goes into a CSV file."
        + " A missed bar is not an error: the status is 1 only if a run fails.",
    "A call is measured from outside: it includes waiting for the object, tries again, and the sync. On a disk, a row"
        + " reports how many syncs of 4 KB it does per second. Keep the machine quiet: otherwise only ratios "
        + "are valid.%n"},
        footer = {"", "Eight minutes on a quiet machine: tools/bobc hot --seconds 2 --warm-up 2 --rounds 2",
            "The hot object alone, in memory, without peers: tools/bobc hot --on /dev/shm --objects 1 --peers SAS"})
final class HotCommand implements Callable<Integer> {
    @Option(names = "--on", split = ",", arity = "1..*", paramLabel = "DIR", defaultValue = "/dev/shm,.",
            description = "directories for the data: one of a tmpfs, one on a disk (default: ${DEFAULT-VALUE})")
    private List<Path> directories;
    @Option(names = "--threads", split = ",", defaultValue = "1,8,48",
            description = "measure with N threads of one JVM, or N clients of PostgreSQL; several numbers are "
                    + "separated by commas (default: ${DEFAULT-VALUE})")
    private List<Integer> threads;
    @Option(names = "--virtual", split = ",", defaultValue = "2000",
            description = "measure with N virtual threads; 0 for none (default: ${DEFAULT-VALUE})")
    private List<Integer> virtual;
    @Option(names = "--processes", split = ",", defaultValue = "1,2",
            description = "JVMs that share the store: several JVMs have the largest number of --threads together"
                + " (default: ${DEFAULT-VALUE})")
    private List<Integer> processes;
    @Option(names = "--objects", split = ",", defaultValue = "1,1000",
            description = "number of balances; of several, the k-th is chosen with a probability proportional to 1/k"
                + " (default: ${DEFAULT-VALUE})")
    private List<Integer> objects;
    @Option(names = "--peers", split = ",", defaultValue = "SAS,POSTGRESQL,SQLITE",
            description = "SAS; POSTGRESQL, Debian's package, which tools/ensure-postgresql installs; SQLITE, with the"
                + " one writer that it can have (default: ${DEFAULT-VALUE})")
    private List<HotKind> peers;
    @Option(names = "--seconds", description = "to measure in each run (default: ${DEFAULT-VALUE})", defaultValue = "5")
    private int seconds;
    @Option(names = "--warm-up", description = "seconds before that (default: ${DEFAULT-VALUE})", defaultValue = "3")
    private int warmUp;
    @Option(names = "--rounds", description = "(default: ${DEFAULT-VALUE})", defaultValue = "3")
    private int rounds;
    @Option(names = "--seed", description = "seed of the clients' choices (default: "
            + "${DEFAULT-VALUE})", defaultValue = "1997")
    private long seed;
    @Option(names = "--csv", paramLabel = "FILE", defaultValue = "out/hot-object.csv",
            description = "file for the results of every run; the next call overwrites it (default: ${DEFAULT-VALUE})")
    private Path csv;

    @Override
    public Integer call() throws Exception {
        validate();
        HotResults results = new HotResults(csv);
        System.out.println(HotResults.machine());
        List<String> failures = new ArrayList<>();
        for (int round = 1; round <= rounds; round++) {
            for (Path directory : directories) {
                for (HotRow row : rows(directory)) {
                    try {
                        results.add(round, directory, row, run(row, directory.toRealPath(), seed + round));
                    } catch (RunFailed e) {
                        failures.add(directory + ", " + row.title() + ": " + e.getMessage());
                        System.err.println("bobc: " + failures.getLast());
                    }
                }
            }
        }
        System.out.printf("%nRounds: %,d of %,d s, after %,d s each. %s%n", rounds, seconds, warmUp,
                HotResults.machine());
        System.out.print(results);
        failures.forEach(failure -> System.out.println("FAILED: " + failure));
        return failures.isEmpty() ? 0 : 1;
    }

    private void validate() throws IOException {
        directories.forEach(Scratch::requireParent);
        int least = Stream.of(threads, processes, objects, List.of(seconds, rounds)).mapToInt(Collections::min).min()
                .orElseThrow();
        if (least < 1 || warmUp < 0 || Collections.min(virtual) < 0) {
            throw new IllegalArgumentException("all numbers are at least 1, --warm-up and --virtual at least 0");
        }
        if (Collections.max(processes) > most()) {
            throw new IllegalArgumentException("--processes is at most the most of --threads, " + most());
        }
        if (peers.contains(HotKind.PROBE)) {
            throw new IllegalArgumentException("--peers has no PROBE: it runs once in each round on a disk");
        }
        if (peers.contains(HotKind.POSTGRESQL)) {
            PostgresCluster.programs();
        }
    }

    private int most() {
        return Collections.max(threads);
    }

    private List<HotRow> rows(Path directory) throws IOException {
        List<HotRow> rows = new ArrayList<>();
        if (!Probe.isInMemory(directory)) {
            rows.add(HotRow.of(HotKind.PROBE, 1, 1));
        }
        for (int count : objects) {
            for (HotKind peer : peers) {
                addRows(rows, peer, count);
            }
        }
        return rows;
    }

    private void addRows(List<HotRow> rows, HotKind peer, int count) {
        if (peer == HotKind.SQLITE) {
            rows.add(HotRow.of(peer, count, 1));
            return;
        }
        threads.forEach(clients -> rows.add(HotRow.of(peer, count, clients)));
        if (peer == HotKind.SAS) {
            virtual.stream().filter(clients -> clients > 0)
                    .forEach(clients -> rows.add(new HotRow(peer, count, 1, clients, HotDrive.Threads.VIRTUAL)));
            processes.stream().filter(its -> its > 1)
                    .forEach(its -> rows.add(new HotRow(peer, count, its, most() / its, HotDrive.Threads.PLATFORM)));
        }
    }

    private HotOutcome run(HotRow row, Path directory, long its) throws IOException, InterruptedException {
        HotDrive.Time time = new HotDrive.Time(seconds, warmUp);
        return switch (row.kind()) {
            case PROBE -> Probe.appends(directory, seconds);
            case POSTGRESQL -> HotPostgres.run(row, time, its, directory);
            default -> HotChildren.run(row, time, its, directory);
        };
    }
}
