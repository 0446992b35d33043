package dev.norn.bobc;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bobc}: the business object benchmark. Ends with 1 if a consistency condition does not hold or a run fails, with 2 for wrong arguments. */
@Command(name = "bobc", mixinStandardHelpOptions = true, description = "The business object benchmark: TPC-C's entities as Java objects.",
        subcommands = {BobcCommand.Run.class, BobcCommand.Compare.class, BobcCommand.Storage.class, BobcCommand.Part.class})
public final class BobcCommand {
    private BobcCommand() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    static int run(String... arguments) {
        CommandLine line = new CommandLine(new BobcCommand());
        line.setExecutionExceptionHandler((thrown, command, result) -> {
            if (thrown instanceof IllegalArgumentException) {
                command.getErr().println("bobc: " + thrown.getMessage());
                return 2;
            }
            throw thrown;
        });
        return line.execute(arguments);
    }

    static void remove(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Command(name = "run", description = "Populate, run, check; print what was measured.")
    static final class Run implements Callable<Integer> {
        @Parameters(index = "0", description = "${COMPLETION-CANDIDATES}")
        private PeerKind kind;
        @Mixin
        private Setup setup;
        @Option(names = "--encoded", hidden = true, description = "one line for compare")
        private boolean isEncoded;

        @Override
        public Integer call() throws Exception {
            setup.validate(kind);
            Path directory = Files.createTempDirectory(setup.directory, "bobc");
            try (Peer peer = kind.open(directory, setup.scale, setup.pool)) {
                long start = System.nanoTime();
                peer.populate(setup.scale, setup.warehouses, setup.seed);
                double populated = (System.nanoTime() - start) / 1e9;
                double before = Probe.syncMicros(directory);
                Drive.Outcome outcome = setup.processes == 1 ? Drive.run(peer, setup.plan(0)) : runProcesses(directory);
                Report report = new Report(outcome, populated, before, Probe.syncMicros(directory));
                List<String> findings = peer.inconsistencies();
                if (isEncoded) {
                    System.out.println(report.encode());
                } else {
                    report.lines(peer.durability()).forEach(System.out::println);
                    System.out.printf("%-26s %s%n", "consistency conditions", findings.isEmpty() ? "hold" : "DO NOT HOLD");
                }
                findings.stream().limit(20).forEach(System.err::println);
                return findings.isEmpty() ? 0 : 1;
            } finally {
                remove(directory);
            }
        }

        private Drive.Outcome runProcesses(Path directory) throws IOException, InterruptedException {
            List<Process> processes = new ArrayList<>();
            List<Drive.Outcome> outcomes = new ArrayList<>();
            try {
                for (int i = 0; i < setup.processes; i++) {
                    List<String> arguments = new ArrayList<>(List.of("part", directory.toString(), Integer.toString(i)));
                    arguments.addAll(setup.arguments());
                    processes.add(Jvm.start(kind, List.of("-Dsas.jar=" + System.getProperty("sas.jar")), arguments));
                }
                List<BufferedReader> outputs = new ArrayList<>();
                for (Process process : processes) {
                    BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream()));
                    if (!"ready".equals(output.readLine())) {
                        throw new IllegalStateException("process " + process.pid() + " did not get ready");
                    }
                    outputs.add(output);
                }
                for (Process process : processes) {
                    process.getOutputStream().write('\n');
                    process.getOutputStream().flush();
                }
                for (BufferedReader output : outputs) {
                    outcomes.add(output.lines().filter(Report::isEncoded).map(Report::decode).map(Report::outcome).findFirst()
                            .orElseThrow(() -> new IllegalStateException("a process ended without figures")));
                }
            } finally {
                for (Process process : processes) {
                    process.waitFor(5, java.util.concurrent.TimeUnit.SECONDS);
                    process.destroyForcibly();
                }
            }
            return Report.sum(outcomes);
        }
    }

    @Command(name = "part", hidden = true, description = "A process of a run: the terminals of one JVM.")
    static final class Part implements Callable<Integer> {
        @Parameters(index = "0")
        private Path directory;
        @Parameters(index = "1")
        private int process;
        @Mixin
        private Setup setup;

        @Override
        public Integer call() throws Exception {
            try (Peer peer = PeerKind.SAS.open(directory, setup.scale, setup.pool)) {
                System.out.println("ready");
                if (System.in.read() < 0) {
                    return 1;
                }
                System.out.println(new Report(Drive.run(peer, setup.plan(process)), 0, 0, 0).encode());
                return 0;
            }
        }
    }

    @Command(name = "compare", description = "Run peers in turn, each in a JVM of its own, several rounds; print medians and ratios.")
    static final class Compare implements Callable<Integer> {
        @Parameters(arity = "1..*", description = "${COMPLETION-CANDIDATES}; ratios are to the first")
        private List<PeerKind> kinds;
        @Mixin
        private Setup setup;
        @Option(names = "--rounds", description = "(default: ${DEFAULT-VALUE})", defaultValue = "3")
        private int rounds;
        @Option(names = "--heap", description = "of each JVM (default: ${DEFAULT-VALUE})", defaultValue = "2g")
        private String heap;

        @Override
        public Integer call() throws Exception {
            Map<PeerKind, List<Report>> reports = new LinkedHashMap<>();
            for (int round = 0; round < rounds; round++) {
                for (PeerKind kind : kinds) {
                    reports.computeIfAbsent(kind, key -> new ArrayList<>()).add(once(kind));
                }
            }
            System.out.println("| peer | tpmBOB-C, median | all rounds | ratio | CPU us/tx | bytes logged/tx | bytes written/tx | syncs/tx | conflicts/1000 tx "
                    + "| fdatasync us before, after |");
            System.out.println("|---|---|---|---|---|---|---|---|---|---|");
            double first = median(reports.get(kinds.getFirst()), Report::tpm);
            reports.forEach((kind, its) -> print(kind, its, first));
            return 0;
        }

        private Report once(PeerKind kind) throws IOException, InterruptedException {
            setup.validate(kind);
            List<String> arguments = new ArrayList<>(List.of("run", kind.toString(), "--encoded"));
            arguments.addAll(setup.arguments());
            Process process = Jvm.start(kind, List.of("-Xmx" + heap, "-Dsas.jar=" + System.getProperty("sas.jar")), arguments);
            try (var output = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
                List<String> lines = output.lines().toList();
                if (process.waitFor() != 0) {
                    throw new IllegalStateException("the run of " + kind + " failed: " + lines);
                }
                return lines.stream().filter(Report::isEncoded).map(Report::decode).findFirst().orElseThrow();
            } finally {
                process.destroyForcibly();
            }
        }

        private static double median(List<Report> reports, java.util.function.ToDoubleFunction<Report> figure) {
            double[] sorted = reports.stream().mapToDouble(figure).sorted().toArray();
            return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
        }

        private static String perTransaction(List<Report> reports, java.util.function.ToLongFunction<Drive.Outcome> count, String format) {
            return count.applyAsLong(reports.getFirst().outcome()) < 0 ? "-"
                    : format.formatted(median(reports, it -> (double) count.applyAsLong(it.outcome()) / it.outcome().transactions()));
        }

        private void print(PeerKind kind, List<Report> its, double first) {
            System.out.printf("| %s | %,.0f | %s | %.4f | %.1f | %s | %s | %s | %.2f | %.0f, %.0f |%n", kind, median(its, Report::tpm),
                    String.join(", ", its.stream().map(it -> "%,.0f".formatted(it.tpm())).toList()), median(its, Report::tpm) / first, median(its, Report::cpuMicros),
                    perTransaction(its, it -> it.counts().loggedBytes(), "%,.0f"), perTransaction(its, Drive.Outcome::writtenBytes, "%,.0f"),
                    perTransaction(its, it -> it.counts().syncs(), "%.3f"), median(its, it -> 1000.0 * it.outcome().conflicts() / it.outcome().transactions()),
                    median(its, Report::probeBefore), median(its, Report::probeAfter));
        }
    }

    @Command(name = "storage", description = "Populate one warehouse of SAS objects; print what it takes beside the paper's figures.")
    static final class Storage implements Callable<Integer> {
        @Option(names = "--scale", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})", defaultValue = "FULL")
        private Scale scale;
        @Option(names = "--directory", description = "(default: ${DEFAULT-VALUE})", defaultValue = "/dev/shm")
        private Path directory;

        @Override
        public Integer call() throws Exception {
            Path made = Files.createTempDirectory(directory, "bobc");
            try (SasPeer peer = new SasPeer(made.resolve("store"), scale, null)) {
                long empty = peer.store().container("main").bytesUsed();
                peer.populate(scale, 1, 1997);
                StorageSheet.print(peer.store(), peer.store().container("main").bytesUsed() - empty, scale);
                List<String> findings = peer.inconsistencies();
                findings.stream().limit(20).forEach(System.err::println);
                return findings.isEmpty() ? 0 : 1;
            } catch (UncheckedIOException e) {
                throw e.getCause();
            } finally {
                remove(made);
            }
        }
    }
}
