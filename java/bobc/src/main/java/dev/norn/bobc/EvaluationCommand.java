package dev.norn.bobc;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bobc evaluation}: its parts in their order, and where they run. */
@Command(name = "evaluation", description = "Repeat the paper's evaluation and the comparison with peers; write a "
        + "dated report in Markdown, with CSV files and plots. Continues where it was interrupted.")
final class EvaluationCommand implements Callable<Integer> {
    @Option(names = "--quick", description = "short runs on small data, to test this command; the figures have "
            + "no meaning")
    private boolean isQuick;
    @Option(names = "--out", description = "where the report and the results of each run are kept (default: out/bobc, "
            + "with --quick out/bobc-quick)")
    private Path out;
    @Option(names = "--memory",
            description = "a directory of a tmpfs, for runs without a disk (default: ${DEFAULT-VALUE})",
            defaultValue = "/dev/shm")
    private Path memory;
    @Option(names = "--disk", description = "a directory on a disk, for the others (default: the one of --out)")
    private Path disk;
    @Option(names = "--part", description = "${COMPLETION-CANDIDATES}: only these; may be repeated (default: all)")
    private List<Part> parts;

    /** What the evaluation consists of, in the report's order. */
    enum Part {
        PACE, UNCONSTRAINED, PEERS, SEPARATE, RATIO, STORAGE, OVERCOMMIT
    }

    @Override
    public Integer call() throws Exception {
        if (out == null) {
            out = Path.of("out", isQuick ? "bobc-quick" : "bobc");
        }
        Files.createDirectories(out);
        if (disk == null) {
            disk = out;
        }
        for (Path directory : List.of(memory, disk)) {
            if (!Files.isWritable(directory)) {
                throw new IllegalArgumentException("there is no directory to write to at " + directory);
            }
        }
        Evaluation evaluation = new Evaluation(isQuick ? Evaluation.Length.QUICK : Evaluation.Length.FULL, out,
                memory.toRealPath(), disk.toRealPath());
        Map<Part, Evaluation.Section> sections = new java.util.EnumMap<>(Part.class);
        sections.put(Part.PACE, PaperRuns::pace);
        sections.put(Part.UNCONSTRAINED, PaperRuns::unconstrained);
        sections.put(Part.PEERS, PeerRuns::newOrders);
        sections.put(Part.SEPARATE, PeerRuns::separate);
        sections.put(Part.RATIO, PeerRuns::ratio);
        sections.put(Part.STORAGE, StorageRuns::write);
        sections.put(Part.OVERCOMMIT, OverCommitRuns::write);
        for (var section : sections.entrySet()) {
            if (parts == null || parts.contains(section.getKey())) {
                section.getValue().write(evaluation);
            }
        }
        Path report = evaluation.finish();
        System.out.println("the report is " + report);
        evaluation.failures().forEach(failure -> System.err.println("bobc: " + failure));
        return evaluation.failures().isEmpty() ? 0 : 1;
    }
}
