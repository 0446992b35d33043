package dev.norn.bobc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * An evaluation: runs, each kept in a file so that it is not done again, and the report that is written from them. A
 * run that fails is named in the report, and the others continue; it is tried again the next time.
 */
final class Evaluation {
    /** Whether runs are long enough to say something. */
    enum Length {
        FULL, QUICK
    }

    /** A part of the report. */
    interface Section {
        void write(Evaluation evaluation) throws IOException, InterruptedException;
    }

    /** Something that gives figures. */
    interface Measurement {
        Figures measure() throws IOException, InterruptedException;
    }

    final Length length;
    final Path memory;
    final Path disk;
    private final Path out;
    private final Path runs;
    private final List<String> text = new ArrayList<>();
    private final List<String> bars = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private double loadMax;
    private int measured;
    private int kept;

    Evaluation(Length length, Path out, Path memory, Path disk) throws IOException {
        this.length = length;
        this.out = out;
        this.memory = memory;
        this.disk = disk;
        runs = Files.createDirectories(out.resolve("runs"));
    }

    List<String> failures() {
        return failures;
    }

    /** The one that belongs to this length. */
    <T> T of(T full, T quick) {
        return length == Length.FULL ? full : quick;
    }

    /** A line of the report, or several. */
    void say(String lines) {
        text.add(lines);
    }

    private static double load() throws IOException {
        return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
    }

    /**
     * Figures of a run of this name and description, measured now unless they are there.
     *
     * @param description all that the figures depend on; those of another are not used
     * @return empty if it failed, which the report says
     */
    Optional<Figures> figures(String name, String description, Measurement measurement)
            throws IOException, InterruptedException {
        Path file = runs.resolve(name + ".txt");
        if (Files.exists(file)) {
            List<String> lines = Files.readAllLines(file);
            if (lines.size() == 2 && lines.getFirst().equals(description)) {
                kept++;
                return Optional.of(noteLoad(Figures.decode(lines.get(1))));
            }
        }
        System.err.printf("%s %s%n", LocalTime.now().truncatedTo(ChronoUnit.SECONDS), name);
        try {
            double load = load();
            Figures figures = measurement.measure().with("load", load);
            Path fresh = runs.resolve(name + ".new");
            Files.write(fresh, List.of(description, figures.encode()));
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            measured++;
            return Optional.of(noteLoad(figures));
        } catch (RunFailed | IllegalStateException e) {
            System.err.println("bobc: " + name + ": " + e.getMessage());
            failures.add(name + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    private Figures noteLoad(Figures figures) {
        loadMax = Math.max(loadMax, figures.get("load"));
        return figures;
    }

    /** A peer's run. */
    Optional<Report> run(String name, PeerKind kind, String heap, List<String> options)
            throws IOException, InterruptedException {
        String description = kind + " " + String.join(" ", options) + (heap == null ? "" : " --heap=" + heap);
        List<String> all = new ArrayList<>(options);
        if (heap != null) {
            all.add("--heap=" + heap);
        }
        return figures(name, description, () -> BobcCommand.single(kind, heap, all, line -> {}).figures())
                .map(Report::of);
    }

    /** The values as a file beside the report. */
    void csv(String name, String header, List<String> rows) throws IOException {
        List<String> lines = new ArrayList<>(List.of(header));
        lines.addAll(rows);
        Files.write(out.resolve(name + ".csv"), lines);
    }

    /** A plot in the report, as a picture beside it. */
    void plot(String name, String title, Plots.Drawing drawing) throws IOException {
        try {
            Files.write(out.resolve(name + ".png"), drawing.png());
            say("\n![" + title + "](" + name + ".png)\n");
        } catch (RuntimeException | InternalError | LinkageError e) {
            // What Java's graphics say where fontconfig or every font is missing.
            failures.add("the plot " + name + ": " + e
                    + "; Java's graphics need fontconfig and a font, as of fonts-dejavu-core");
        }
    }

    /** A bar, and whether it is met. */
    void bar(String what, String bar, String measured, String verdict) {
        bars.add("| %s | %s | %s | **%s** |".formatted(what, bar, measured, verdict));
    }

    private static String firstOf(String file, String key) throws IOException {
        return Files.readAllLines(Path.of(file)).stream().filter(line -> line.startsWith(key))
                .map(line -> line.substring(line.indexOf(':') + 1).trim()).findFirst().orElse("unknown");
    }

    private static String libraries() {
        return java.util.Arrays.stream(System.getProperty("java.class.path").split(":"))
                .map(path -> Path.of(path).getFileName().toString())
                .filter(jar -> jar.matches("(sqlite-jdbc|h2|hibernate-core|storage-embedded|lmdbjava|native)-[0-9].*"))
                .map(jar -> jar.replace(".jar", ""))
                .map(jar -> jar.startsWith("native") ? jar.replace("native", "LMDB") : jar)
                .sorted().collect(Collectors.joining(", "));
    }

    private List<String> head() throws IOException {
        List<String> head = new ArrayList<>(List.of("# BOB-C, " + LocalDate.now(), ""));
        if (length == Length.QUICK) {
            head.add("**A quick run: small data, runs of about a second. It tests the command that wrote this; "
                    + "its figures and verdicts say nothing.**\n");
        }
        head.add("`tools/bobc evaluation%s`. %s, %d processors, %s of memory, Linux %s, Java %s. %s."
                .formatted(of("", " --quick"), firstOf("/proc/cpuinfo", "model name"),
                        Runtime.getRuntime().availableProcessors(), firstOf("/proc/meminfo", "MemTotal"),
                        System.getProperty("os.version"), System.getProperty("java.version"), libraries())
                + " Disk: %s at `%s`; tmpfs: `%s`.".formatted(Files.getFileStore(disk).type(), disk, memory));
        head.add("%d runs are of now, %d were kept from before. Load average when a run began: %.1f at most; "
                .formatted(measured, kept, loadMax)
                + "two processors of other work make every figure here smaller, and ratios uncertain.");
        head.add("Every run ended with TPC-C's consistency conditions checked, in what was stored; "
                + "they held in all that are shown, and as many orders were kept as had been committed. "
                + "Each run had a JVM of its own, peers in turn. CPU and bytes are of the whole process. "
                + "Bytes written are what it gave to `write`; those of SQLite and LMDB, which write from C, too.");
        if (!failures.isEmpty()) {
            head.add("\n**Failed, and not shown below:**\n\n- " + String.join("\n- ", failures));
        }
        if (!bars.isEmpty()) {
            head.add("\n## Bars\n\n| | bar | measured | |\n|---|---|---|---|\n" + String.join("\n", bars));
        }
        return head;
    }

    /** Writes the report; its file. */
    Path finish() throws IOException {
        Path report = out.resolve(LocalDate.now() + "-bobc.md");
        List<String> lines = head();
        lines.addAll(text);
        Files.write(report, lines);
        return report;
    }
}
