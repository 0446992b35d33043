package dev.norn.bobc;

import dev.norn.bobc.workload.Scale;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The paper's over-committed run: less memory for the page pool than data. */
final class OverCommitRuns {
    private OverCommitRuns() {}

    static void write(Evaluation evaluation) throws IOException, InterruptedException {
        evaluation.say("""

                ## Less memory than data

                The paper's machine had 80 MB: four warehouses of 1/100 ran at 98.3 tpmBOB-C, three at 116 to 124, which
                it calls a graceful degradation. Here three warehouses are on disk, pool and log too, and a control
                group bounds what the kernel may keep of their files: the share is of the data's size when the run
                begins, and what the JVM itself takes is not counted (see `OverCommit`). The log and the container's
                file go through the same cache, and the data grow while it runs. Four threads, the specified mix. Before
                each run nothing of the files is cached; afterwards TPC-C's conditions and the store's checker held,
                without the limit.""");
        String obstacle = OverCommit.obstacle(evaluation.disk);
        if (obstacle != null) {
            evaluation.say("\n**Skipped: " + obstacle + ".**");
            return;
        }
        Map<String, double[][]> series = new LinkedHashMap<>();
        List<String> csv = new ArrayList<>();
        for (Paging paging : List.of(Paging.RANDOM, Paging.READ_AHEAD)) {
            List<Figures> runs = runs(evaluation, paging);
            if (!runs.isEmpty()) {
                evaluation.say("\n" + explanation(evaluation, paging) + "\n\n" + OverCommit.table(runs));
                List<Figures> limited = runs.stream().filter(run -> run.get("share") > 0).toList();
                double unlimited = runs.stream().filter(run -> run.get("share") == 0)
                        .mapToDouble(run -> Report.of(run).tpm()).findFirst().orElse(Double.NaN);
                series.put(paging == Paging.READ_AHEAD ? "with the kernel's read-ahead" : "page by page",
                        new double[][] {limited.stream().mapToDouble(run -> run.get("share")).toArray(),
                                limited.stream().mapToDouble(run -> Report.of(run).tpm() / unlimited).toArray()});
                runs.forEach(run -> csv.add("%s,%s,%s,%s,%s,%s".formatted(paging, run.get("share"),
                        Report.of(run).tpm(), run.get("major_faults"), run.get("read_bytes"),
                        run.get("dirtied_bytes"))));
            }
        }
        evaluation.csv("overcommit", "paging,share,tpm,major_faults,read_bytes,dirtied_bytes", csv);
        series.values().removeIf(points -> points[0].length == 0 || Double.isNaN(points[1][0]));
        if (!series.isEmpty()) {
            evaluation.plot("overcommit", "Throughput with less memory than data",
                    Plots.lines("Less memory than data", "memory for the pool, as a share of the data",
                            "tpmBOB-C to that without a limit", Plots.Axis.LINEAR, series));
        }
    }

    /** A quick evaluation leaves out what may take minutes. */
    private static String explanation(Evaluation evaluation, Paging paging) throws IOException {
        if (paging == Paging.RANDOM) {
            return "As the store maps its pool, advised (`madvise`) that accesses are random: a page that is missing "
                    + "is read alone.";
        }
        return "The same without that advice: a page that is missing is read with what is around it, here up to "
                + "%,d KB.".formatted(Paging.readAheadKb(evaluation.disk));
    }

    private static List<Double> shares(Evaluation evaluation, Paging paging) {
        return paging == Paging.RANDOM ? evaluation.of(List.of(0.0, 1.0, 0.75, 0.5, 0.25), List.of(0.0, 0.5))
                : evaluation.of(List.of(0.0, 1.0, 0.5), List.of(0.0));
    }

    private static List<Figures> runs(Evaluation evaluation, Paging paging) throws IOException, InterruptedException {
        List<Figures> runs = new ArrayList<>();
        for (double share : shares(evaluation, paging)) {
            List<String> options = List.of("--scale=" + evaluation.of(Scale.FULL, Scale.TENTH), "--warehouses=3",
                    "--threads=4", "--seconds=" + evaluation.of(30.0, 1.0), "--warm-up=" + evaluation.of(60.0, 1.0),
                    "--paging=" + paging, "--directory=" + evaluation.disk);
            Setup setup = Setup.of(options);
            evaluation.figures("overcommit-" + paging + "-" + OverCommit.name(share).replace(' ', '-'),
                    "overcommit " + share + " " + String.join(" ", options),
                    () -> new OverCommit(setup, share, OverCommit.Charge.GROUP).run())
                    .ifPresent(runs::add);
        }
        return runs;
    }
}
