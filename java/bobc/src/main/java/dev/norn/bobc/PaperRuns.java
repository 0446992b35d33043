package dev.norn.bobc;

import dev.norn.bobc.workload.Scale;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The paper's runs (section 3.2): at the pace of persons, and unconstrained. */
final class PaperRuns {
    private PaperRuns() {}

    /** A row of the table. */
    private record Paced(String name, String what, int warehouses, double haste, double paperLow, double paperHigh,
            List<String> options) {}

    private static Paced paced(Evaluation evaluation, String name, Scale scale, int warehouses, int processes,
            double haste, double seconds, double paperLow, double paperHigh) {
        Scale its = evaluation.of(scale, Scale.HUNDREDTH);
        int terminals = 10 * warehouses;
        double hastened = evaluation.of(haste, 60.0);
        int jvms = evaluation.of(processes, Math.min(processes, 2));
        List<String> options = List.of("--scale=" + its, "--warehouses=" + warehouses, "--processes=" + jvms,
                "--threads=" + terminals / jvms, "--pace=HUMAN", "--haste=" + hastened,
                "--seconds=" + evaluation.of(seconds, 5.0), "--warm-up=" + evaluation.of(60.0, 1.0), "--screens=BUILD",
                "--directory=" + evaluation.memory);
        String what = "%d warehouse%s, %s; %d terminals in %d JVM%s%s"
                .formatted(warehouses, warehouses > 1 ? "s" : "", its, terminals, jvms, jvms > 1 ? "s" : "",
                        hastened > 1 ? ", %,.0f times as fast".formatted(hastened) : "");
        return new Paced(name, what, warehouses, hastened, paperLow, paperHigh, options);
    }

    static void pace(Evaluation evaluation) throws IOException, InterruptedException {
        evaluation.say("""

                ## At the pace of persons

                Keying and think times as TPC-C specifies them; on tmpfs, screens built but not shown. Legal are 9 to
                12.7 tpmBOB-C a warehouse: the number of terminals decides this, not the store, as long as that answers
                at once. The spread is one standard deviation of a Poisson count, the widest that chance makes of so
                many orders. Rows with shorter times say the same of more orders: their tpmBOB-C are divided by how much
                faster persons were.

                | | orders | tpmBOB-C | spread | paper | legal | CPU ms/tx |
                |---|---|---|---|---|---|---|""");
        List<Paced> all = List.of(
                paced(evaluation, "pace-one", Scale.FULL, 1, 10, 1, 1200, 11.5, 12.6),
                paced(evaluation, "pace-one-hastened", Scale.FULL, 1, 10, 10, 300, 11.5, 12.6),
                paced(evaluation, "pace-four", Scale.TENTH, 4, 40, 1, 600, 44.6, 49.8),
                paced(evaluation, "pace-four-hastened", Scale.TENTH, 4, 40, 10, 120, 44.6, 49.8));
        // A quick one hastens anyway.
        List<Paced> rows = evaluation.of(all, all.stream().filter(row -> !row.name.endsWith("hastened")).toList());
        List<String> csv = new ArrayList<>();
        List<String> names = new ArrayList<>();
        Map<String, List<Double>> series = new LinkedHashMap<>();
        for (String name : List.of("paper, lowest", "paper, highest", "measured", "least legal", "most legal")) {
            series.put(name, new ArrayList<>());
        }
        for (Paced row : rows) {
            Optional<Report> run = evaluation.run(row.name, PeerKind.SAS, null, row.options);
            if (run.isPresent()) {
                long orders = run.get().outcome().newOrders();
                double tpm = run.get().tpm() / row.haste;
                boolean isLegal = tpm >= 9.0 * row.warehouses && tpm <= 12.7 * row.warehouses;
                evaluation.say("| %s | %,d | %.1f | ±%.1f | %.1f to %.1f | %.0f to %.1f: %s | %.2f |"
                        .formatted(row.what, orders, tpm, tpm / Math.sqrt(orders), row.paperLow, row.paperHigh,
                                9.0 * row.warehouses, 12.7 * row.warehouses, isLegal ? "within" : "outside",
                                run.get().cpuMicros() / 1000));
                csv.add("%s,%d,%s,%s,%s,%s".formatted(row.name, orders, tpm, row.haste, row.paperLow, row.paperHigh));
                names.add(row.warehouses + (row.warehouses > 1 ? " warehouses" : " warehouse")
                        + (row.haste > 1 ? ", %,.0fx".formatted(row.haste) : ""));
                List<Double> values =
                        List.of(row.paperLow, row.paperHigh, tpm, 9.0 * row.warehouses, 12.7 * row.warehouses);
                int at = 0;
                for (List<Double> those : series.values()) {
                    those.add(values.get(at++));
                }
            }
        }
        evaluation.csv("pace", "run,new_orders,tpm,haste,paper_low,paper_high", csv);
        if (!names.isEmpty()) {
            evaluation.plot("pace", "tpmBOB-C at the pace of persons",
                    Plots.bars("At the pace of persons", "tpmBOB-C", Plots.Axis.LINEAR, names, series));
        }
    }

    /** A row of the table. */
    private record Free(String name, String what, String paper, Scale scale, int warehouses, int threads,
            Drive.Screens screens) {}

    static void unconstrained(Evaluation evaluation) throws IOException, InterruptedException {
        evaluation.say("""

                ## Without pauses

                All five transactions in the specified mix, keying and think times 0, on tmpfs. The paper ran these on
                Pentiums of 166 and 200 MHz with an interpreter, without roll-back and recovery; the factor between the
                columns is thirty years of processors and compilers more than anything of the store. What compares is
                what changes within a column: the paper lost 45 % by showing its screens (here they are written into a
                pipe).

                | | tpmBOB-C | paper | CPU µs/tx | bytes logged/tx | syncs/tx |
                |---|---|---|---|---|---|""");
        List<Free> rows = List.of(
                new Free("free-four", "four warehouses, 4 threads", "98.3 (166 MHz)", Scale.HUNDREDTH, 4, 4,
                        Drive.Screens.NONE),
                new Free("free-shown", "one, 1 thread, screens printed", "96.4 (200 MHz)", Scale.HUNDREDTH, 1, 1,
                        Drive.Screens.PRINT),
                new Free("free-built", "one, 1 thread, screens built", "176 (200 MHz)", Scale.HUNDREDTH, 1, 1,
                        Drive.Screens.BUILD),
                new Free("free-none", "one, 1 thread, no screens", "", Scale.HUNDREDTH, 1, 1, Drive.Screens.NONE),
                new Free("free-tenth", "one, 1 thread, no screens", "", Scale.TENTH, 1, 1, Drive.Screens.NONE),
                new Free("free-full", "one, 1 thread, no screens", "", Scale.FULL, 1, 1, Drive.Screens.NONE));
        List<String> csv = new ArrayList<>();
        for (Free row : rows) {
            Scale scale = evaluation.of(row.scale, row.scale == Scale.FULL ? Scale.TENTH : Scale.HUNDREDTH);
            List<String> options = List.of("--scale=" + scale, "--warehouses=" + row.warehouses,
                    "--threads=" + row.threads, "--screens=" + row.screens, "--seconds=" + evaluation.of(20.0, 1.0),
                    "--warm-up=" + evaluation.of(15.0, 0.5), "--directory=" + evaluation.memory);
            evaluation.run(row.name, PeerKind.SAS, null, options).ifPresent(run -> {
                Drive.Outcome its = run.outcome();
                evaluation.say("| %s, %s | %,.0f | %s | %.1f | %,.0f | %.3f |".formatted(scale, row.what, run.tpm(),
                        row.paper, run.cpuMicros(), (double) its.counts().loggedBytes() / its.transactions(),
                        (double) its.counts().syncs() / its.transactions()));
                csv.add("%s,%s,%d,%d,%s,%s,%s".formatted(row.name, scale, row.warehouses, row.threads, row.screens,
                        run.tpm(), run.cpuMicros()));
            });
        }
        evaluation.csv("unconstrained", "run,scale,warehouses,threads,screens,tpm,cpu_us", csv);
    }
}
