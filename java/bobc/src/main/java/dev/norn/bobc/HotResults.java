package dev.norn.bobc;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The outcomes of all rows of {@code bobc hot}: as lines of a CSV file at once, and as tables with bars at the end. */
final class HotResults {
    private static final double BAR_IN_MEMORY = 1;
    private static final double BAR_ON_DISK = 10;
    private static final double BAR_PROCESSES = 0.8;
    private static final double BAR_WAIT_MILLIS = 250;
    private static final double SHARE = 0.999;
    private static final String MET = "- met:";
    private static final String MISSED = "- **missed**:";

    private final Map<Path, Map<HotRow, List<HotOutcome>>> outcomes = new LinkedHashMap<>();
    private final PrintStream csv;

    /** @param csv a file that is made anew, with the directories that it needs */
    HotResults(Path csv) throws IOException {
        if (csv.toAbsolutePath().getParent() != null) {
            Files.createDirectories(csv.toAbsolutePath().getParent());
        }
        this.csv = new PrintStream(Files.newOutputStream(csv), true);
        this.csv.println("round,directory,who,objects,processes,clients_each,threads,seconds,commits,commits_per_s,"
                + "syncs,tries,conflicts,wait_999_ms,wait_longest_ms,cpu_ns");
    }

    /** When and where it runs, and what else does. */
    static String machine() {
        var system = ManagementFactory.getOperatingSystemMXBean();
        return "%s: %d processors, load average %.1f, Java %s.".formatted(
                LocalDateTime.now().truncatedTo(ChronoUnit.MINUTES), system.getAvailableProcessors(),
                system.getSystemLoadAverage(), Runtime.version());
    }

    void add(int round, Path directory, HotRow row, HotOutcome its) {
        outcomes.computeIfAbsent(directory, key -> new LinkedHashMap<>()).computeIfAbsent(row, key -> new ArrayList<>())
                .add(its);
        csv.printf(Locale.ROOT, "%d,\"%s\",%s,%d,%d,%d,%s,%.3f,%d,%.1f,%d,%d,%d,%.3f,%.3f,%d%n", round, directory,
                row.kind(), row.objects(), row.processes(), row.clients(), row.threads(), its.seconds(), its.commits(),
                its.rate(), its.syncs(), its.tries(), its.conflicts(), its.waits().millis(SHARE),
                its.waits().longestMillis(), its.cpuNanos());
        System.err.printf("round %d, %s, objects: %,d, %s: %,.0f/s%n", round, directory, row.objects(), row.title(),
                its.rate());
    }

    private static double median(List<HotOutcome> rounds, ToDoubleFunction<HotOutcome> figure) {
        double[] sorted = rounds.stream().mapToDouble(figure).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    private static double rate(List<HotOutcome> rounds) {
        return median(rounds, HotOutcome::rate);
    }

    private static double longest(List<HotOutcome> rounds) {
        return rounds.stream().mapToDouble(its -> its.waits().longestMillis()).max().orElseThrow();
    }

    private static long conflicts(List<HotOutcome> rounds) {
        return rounds.stream().mapToLong(HotOutcome::conflicts).sum();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        outcomes.forEach((directory, rows) -> {
            text.append("\nOn ").append(directory).append(", ").append(fileSystem(directory)).append(":\n\n");
            text.append("| objects | who | calls/s, median | rounds | commits/sync | 99.9 % of calls within, ms "
                    + "| longest call, ms | tries/commit | conflicts to callers | CPU of clients, µs/call |\n"
                    + "|---|---|---|---|---|---|---|---|---|---|\n");
            rows.forEach((row, rounds) -> text.append(line(row, rounds)));
            text.append('\n');
            double bar = isInMemory(directory) ? BAR_IN_MEMORY : BAR_ON_DISK;
            bars(rows, bar).forEach(line -> text.append(line).append('\n'));
        });
        return text.toString();
    }

    private static String line(HotRow row, List<HotOutcome> rounds) {
        String all = rounds.stream().map(its -> "%,.0f".formatted(its.rate())).collect(Collectors.joining("; "));
        String commitsPerSync = counted(rounds, HotOutcome::syncs, its -> ratio(its.commits(), its.syncs()));
        String cpu = counted(rounds, HotOutcome::cpuNanos, its -> ratio(its.cpuNanos(), its.commits()) / 1000);
        return "| %,d | %s | %,.0f | %s | %s | %.2f | %.1f | %.3f | %,d | %s |%n".formatted(row.objects(), row.title(),
                rate(rounds), all, commitsPerSync, median(rounds, its -> its.waits().millis(SHARE)), longest(rounds),
                median(rounds, its -> ratio(its.tries(), its.commits())), conflicts(rounds), cpu);
    }

    private static double ratio(long count, long of) {
        return count / (double) Math.max(of, 1);
    }

    private static String counted(List<HotOutcome> rounds, ToDoubleFunction<HotOutcome> count,
            ToDoubleFunction<HotOutcome> figure) {
        return count.applyAsDouble(rounds.getFirst()) < 0 ? "not counted" : "%.3g".formatted(median(rounds, figure));
    }

    private static String fileSystem(Path directory) {
        try {
            return Files.getFileStore(directory).type();
        } catch (IOException e) {
            return "a file system without a name";
        }
    }

    private static boolean isInMemory(Path directory) {
        try {
            return Probe.isInMemory(directory);
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * What is asked of SAS beside what was measured, of one directory; nothing for rows that are not there.
     *
     * @param bar what the most threads have to reach, in times of one thread's rate
     */
    static List<String> bars(Map<HotRow, List<HotOutcome>> rows, double bar) {
        Map<HotRow, List<HotOutcome>> its = new LinkedHashMap<>(rows);
        its.keySet().removeIf(row -> row.kind() != HotKind.SAS);
        List<String> bars = new ArrayList<>();
        var hot = its.keySet().stream().filter(HotResults::isHot);
        hot.max(Comparator.comparingInt(HotRow::clients)).ifPresent(most -> {
            ratio(its, most, HotRow.of(HotKind.SAS, 1, 1), bar).forEach(bars::add);
            its.keySet().stream().filter(row -> row.objects() == 1 && row.processes() > 1)
                    .flatMap(row -> ratio(its, row, most, BAR_PROCESSES)).forEach(bars::add);
        });
        its.keySet().stream().max(Comparator.comparingDouble(row -> longest(its.get(row)))).ifPresent(worst -> {
            double longest = longest(its.get(worst));
            String verdict = longest <= BAR_WAIT_MILLIS ? MET : MISSED;
            bars.add("%s longest call: %.1f ms, of %s, objects: %,d (bar: at most %.0f)".formatted(verdict, longest,
                    worst.title(), worst.objects(), BAR_WAIT_MILLIS));
            long conflicts = its.values().stream().mapToLong(HotResults::conflicts).sum();
            bars.add("%s conflicts that reached a caller: %,d (bar: 0)".formatted(conflicts == 0 ? MET : MISSED,
                    conflicts));
        });
        return bars;
    }

    /** Whether it is a row of one JVM's threads and one object. */
    private static boolean isHot(HotRow row) {
        return row.equals(HotRow.of(HotKind.SAS, 1, row.clients()));
    }

    private static Stream<String> ratio(Map<HotRow, List<HotOutcome>> rows, HotRow row, HotRow base, double bar) {
        if (row.equals(base) || !rows.containsKey(base)) {
            return Stream.empty();
        }
        double ratio = rate(rows.get(row)) / rate(rows.get(base));
        return Stream.of("%s %s: %.2f times %s (bar: at least %s)".formatted(ratio >= bar ? MET : MISSED, row.title(),
                ratio, base.title(), bar));
    }
}
