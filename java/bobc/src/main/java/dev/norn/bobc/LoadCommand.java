package dev.norn.bobc;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code bobc load}: how long it takes to fill a store and its peers, each in a JVM of its own, in turn, on several
 * file systems in one run.
 */
@Command(name = "load", description = "Make many small objects in large transactions, with SAS and its peers in turn; "
        + "print medians and ratios to SQLite.")
final class LoadCommand implements Callable<Integer> {
    /** Ratios are to the peer that is faster than the others. */
    private static final LoadKind BASE = LoadKind.SQLITE;

    @Option(names = "--objects", split = ",",
            description = "how many, one or several (default: ${DEFAULT-VALUE})", defaultValue = "500000")
    private List<Integer> objects;
    @Option(names = "--batch",
            description = "objects of a transaction (default: ${DEFAULT-VALUE})", defaultValue = "10000")
    private int batch;
    @Option(names = "--on", split = ",",
            description = "directories in which the data are made, one or several (default: ${DEFAULT-VALUE})",
            defaultValue = "/dev/shm")
    private List<Path> directories;
    @Option(names = "--peers", split = ",",
            description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})", defaultValue = "SAS,SQLITE,MVSTORE")
    private List<LoadKind> kinds;
    @Option(names = "--rounds", description = "(default: ${DEFAULT-VALUE})", defaultValue = "3")
    private int rounds;
    @Option(names = "--seed", description = "(default: ${DEFAULT-VALUE})", defaultValue = "1997")
    private long seed;
    @Option(names = "--heap", description = "of each JVM (default: ${DEFAULT-VALUE})", defaultValue = "2g")
    private String heap;
    @Option(names = "--csv", description = "a file for the figures of all rounds")
    private Path csv;

    private final List<Measured> all = new ArrayList<>();

    private record Measured(Path directory, int round, LoadKind kind, Figures figures) {}

    @Override
    public Integer call() throws Exception {
        directories.forEach(Scratch::requireParent);
        if (batch < 1 || rounds < 1 || objects.stream().anyMatch(count -> count < 1)) {
            throw new IllegalArgumentException("--objects, --batch and --rounds are at least 1");
        }
        for (Path directory : directories) {
            for (int count : objects) {
                measure(directory, count);
            }
        }
        if (csv != null) {
            writeCsv();
        }
        return 0;
    }

    private void measure(Path directory, int count) throws IOException, InterruptedException {
        Map<LoadKind, List<Figures>> found = new LinkedHashMap<>();
        for (int round = 1; round <= rounds; round++) {
            for (LoadKind kind : kinds) {
                Figures figures = child(kind, directory, count);
                found.computeIfAbsent(kind, key -> new ArrayList<>()).add(figures);
                all.add(new Measured(directory, round, kind, figures));
            }
        }
        System.out.printf("## %,d objects with three references, %,d in a transaction, on %s%n%n%s%n", count, batch,
                directory, table(found));
    }

    private Figures child(LoadKind kind, Path directory, int count) throws IOException, InterruptedException {
        List<String> arguments = List.of("fill", kind.toString(), "--objects=" + count, "--batch=" + batch,
                "--seed=" + seed, "--directory=" + directory);
        try (Jvm jvm = new Jvm(kind.jvm, heap, List.of(), arguments, List.of())) {
            return jvm.figures(System.err::println);
        }
    }

    private static double median(List<Figures> rounds, String name) {
        double[] sorted = rounds.stream().mapToDouble(figures -> figures.get(name)).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    private static String table(Map<LoadKind, List<Figures>> found) {
        StringBuilder table = new StringBuilder("| peer | s, median | all rounds | of " + BASE
                + "'s time | CPU of the thread, s | of " + BASE + "'s | CPU of the process, s "
                + "| second half, objects/s | bytes allocated/object | bytes written/object | file bytes/object "
                + "| fdatasync µs before, after |\n" + "|---".repeat(12) + "|\n");
        List<Figures> base = found.get(BASE);
        found.forEach((kind, its) -> table.append(row(kind, its, base)));
        return table.toString();
    }

    private static String row(LoadKind kind, List<Figures> its, List<Figures> base) {
        String rounds = its.stream().map(figures -> "%.2f".formatted(figures.get("seconds")))
                .collect(Collectors.joining(", "));
        String format = "| %s | %.2f | %s | %s | %.2f | %s | %.2f | %,.0f | %,.0f | %,.0f | %,.0f | %.0f, %.0f |%n";
        return format.formatted(kind.title, median(its, "seconds"), rounds, ratio(its, base, "seconds"),
                median(its, "thread_cpu_s"), ratio(its, base, "thread_cpu_s"), median(its, "cpu_s"),
                median(its, "second_half_objects") / median(its, "second_half_s"), perObject(its, "allocated_bytes"),
                perObject(its, "written_bytes"), perObject(its, "file_bytes"), median(its, "probe_before_us"),
                median(its, "probe_after_us"));
    }

    private static double perObject(List<Figures> rounds, String name) {
        return median(rounds, name) / rounds.getFirst().get("objects");
    }

    private static String ratio(List<Figures> its, List<Figures> base, String name) {
        return base == null ? "-" : "%.2f".formatted(median(its, name) / median(base, name));
    }

    private void writeCsv() throws IOException {
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(csv))) {
            out.println("directory,round,peer," + String.join(",", all.getFirst().figures.names()));
            for (Measured its : all) {
                List<String> values = its.figures.names().stream().map(name -> Double.toString(its.figures.get(name)))
                        .toList();
                out.println(its.directory + "," + its.round + "," + its.kind + "," + String.join(",", values));
            }
        }
    }

    /** What a JVM does that the command starts. */
    @Command(name = "fill", hidden = true, description = "Fills a peer, and checks that all is there.")
    static final class Fill implements Callable<Integer> {
        @Parameters(index = "0")
        private LoadKind kind;
        @Option(names = "--objects")
        private int objects;
        @Option(names = "--batch")
        private int batch;
        @Option(names = "--seed")
        private long seed;
        @Option(names = "--directory")
        private Path directory;

        @Override
        public Integer call() throws Exception {
            try (Scratch scratch = new Scratch(directory); LoadTarget target = kind.open(scratch.path, objects)) {
                System.out.println(new Load(objects, batch, seed).run(target, scratch.path).encode());
                return 0;
            }
        }
    }
}
