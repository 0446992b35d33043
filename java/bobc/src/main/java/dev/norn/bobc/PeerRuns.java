package dev.norn.bobc;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Runs of several peers, or of several shapes of one, in turn; ratios are of runs that followed each other. */
final class PeerRuns {
    private PeerRuns() {}

    /** One place and number of clients. */
    private record Place(String name, String title, Path directory, int clients) {}

    private static List<Place> places(Evaluation evaluation) {
        return List.of(
                new Place("tmpfs-1", "1 client, tmpfs", evaluation.memory, 1),
                new Place("tmpfs-8", "8 clients, tmpfs", evaluation.memory, 8),
                new Place("disk-1", "1 client, disk", evaluation.disk, 1),
                new Place("disk-8", "8 clients, disk", evaluation.disk, 8));
    }

    private static int warehouses(Evaluation evaluation, Place place) {
        return evaluation.of(place.clients, Math.min(place.clients, 2));
    }

    private static int rounds(Evaluation evaluation) {
        return evaluation.of(3, 1);
    }

    /** All rounds of these peers, in turn; those that failed are missing. */
    private static Map<PeerKind, List<Report>> rounds(Evaluation evaluation, String name, List<PeerKind> kinds,
            List<String> options) throws IOException, InterruptedException {
        Map<PeerKind, List<Report>> reports = new LinkedHashMap<>();
        for (int round = 1; round <= rounds(evaluation); round++) {
            for (PeerKind kind : kinds) {
                evaluation.run(name + "-" + kind + "-" + round, kind, null, options)
                        .ifPresent(report -> reports.computeIfAbsent(kind, key -> new ArrayList<>()).add(report));
            }
        }
        return reports;
    }

    static void newOrders(Evaluation evaluation) throws IOException, InterruptedException {
        evaluation.say("""

                ## New-Orders of all peers

                New-Orders only, 1/100 scale, a warehouse for each client. The probe is the median of 100 syncs of 512
                bytes overwritten in the same directory, before and after. A sync of tmpfs does nothing. Peers differ in
                what a commit survives: LMDB, SQLite and SAS sync each commit (or share the sync); H2 says of itself
                that a stop of the machine may cost commits, and so does Hibernate over it; EclipseStore makes no sync
                at all (none among its system calls); its lists are in parts of 64, because it writes a changed
                collection as a whole. Plain objects and EclipseStore cannot undo: orders with an unused item are
                refused before they begin.""");
        List<String> names = java.util.Arrays.stream(PeerKind.values())
                .map(kind -> kind.title.replaceAll("[:,].*", "").replace("the same", "transformed")).toList();
        Map<String, List<Double>> series = new LinkedHashMap<>();
        List<String> csv = new ArrayList<>();
        for (Place place : places(evaluation)) {
            boolean isDisk = place.directory.equals(evaluation.disk);
            List<PeerKind> kinds = java.util.Arrays.stream(PeerKind.values())
                    .filter(kind -> !isDisk || kind.durability != PeerKind.Durability.NONE).toList();
            List<String> options = List.of("--mix=NEW_ORDERS", "--warehouses=" + warehouses(evaluation, place),
                    "--threads=" + place.clients, "--seconds=" + evaluation.of(6.0, 0.8),
                    "--warm-up=" + evaluation.of(8.0, 0.4), "--directory=" + place.directory);
            Map<PeerKind, List<Report>> reports = rounds(evaluation, place.name, kinds, options);
            evaluation.say("\n### " + place.title + "\n\n"
                    + new PeerTable(reports, isDisk ? PeerKind.SAS : PeerKind.PLAIN));
            reports.forEach((kind, its) -> its.forEach(report -> csv.add("%s,%s,%s,%s,%s,%s".formatted(place.name, kind,
                    report.tpm(), report.cpuMicros(), report.probeBefore(), report.probeAfter()))));
            series.put(place.title, java.util.Arrays.stream(PeerKind.values())
                    .map(kind -> reports.containsKey(kind) ? PeerTable.median(reports.get(kind), Report::tpm)
                            : Double.NaN).toList());
            bars(evaluation, place, reports);
        }
        evaluation.csv("new-orders", "place,peer,tpm,cpu_us,probe_before_us,probe_after_us", csv);
        evaluation.plot("new-orders", "New-Orders a minute of all peers",
                Plots.bars("New-Orders a minute, medians", "New-Orders/min", Plots.Axis.LOGARITHMIC, names, series));
    }

    private static void bars(Evaluation evaluation, Place place, Map<PeerKind, List<Report>> reports) {
        if (place.name.equals("tmpfs-1")) {
            ratioBar(evaluation, "New-Order without sync: time of SAS to plain Java's, tmpfs, 1 client", reports,
                    PeerKind.PLAIN, PeerKind.SAS, Report::tpm, "at most 6", -6);
            ratioBar(evaluation, "the same by CPU", reports, PeerKind.SAS, PeerKind.PLAIN,
                    Report::cpuMicros, "(6)", -6);
        }
        if (place.name.equals("tmpfs-1") || place.name.equals("disk-8")) {
            ratioBar(evaluation, "durable New-Orders: SAS to SQLite, " + place.title, reports, PeerKind.SAS,
                    PeerKind.SQLITE, Report::tpm, "at least 3, goal 6", 3);
        }
    }

    /** @param limit the ratio has to reach it, or, if it is negative, not to exceed its amount */
    private static void ratioBar(Evaluation evaluation, String what, Map<PeerKind, List<Report>> reports, PeerKind over,
            PeerKind under, ToDoubleFunction<Report> figure, String bar, double limit) {
        if (reports.containsKey(over) && reports.containsKey(under)) {
            ratioBar(evaluation, what, reports.get(over), reports.get(under), figure, bar, limit);
        }
    }

    private static void ratioBar(Evaluation evaluation, String what, List<Report> over, List<Report> under,
            ToDoubleFunction<Report> figure, String bar, double limit) {
        double ratio = PeerTable.median(over, figure) / PeerTable.median(under, figure);
        double low = Double.MAX_VALUE;
        double high = 0;
        for (int round = 0; round < Math.min(over.size(), under.size()); round++) {
            double its = figure.applyAsDouble(over.get(round)) / figure.applyAsDouble(under.get(round));
            low = Math.min(low, its);
            high = Math.max(high, its);
        }
        boolean isMet = limit < 0 ? ratio <= -limit : ratio >= limit;
        boolean isDecided = limit < 0 ? low > -limit || high <= -limit : high < limit || low >= limit;
        evaluation.bar(what, bar, "%.2f of medians; rounds %.2f to %.2f".formatted(ratio, low, high),
                (isMet ? "met" : "missed") + (isDecided ? "" : ", within the spread of the rounds"));
    }

    static void separate(Evaluation evaluation) throws IOException, InterruptedException {
        evaluation.say("""

                ## Threads and processes on separate warehouses

                SAS, tmpfs, New-Orders only, 1/100 scale, two warehouses, runs in turn.

                | | New-Orders/min | CPU µs/tx | conflicts/1000 tx | median to one thread |
                |---|---|---|---|---|""");
        Map<String, List<String>> shapes = new LinkedHashMap<>();
        shapes.put("1 thread", List.of("--threads=1"));
        shapes.put("2 threads", List.of("--threads=2"));
        shapes.put("2 processes of 1 thread", List.of("--processes=2"));
        Map<String, List<Report>> reports = new LinkedHashMap<>();
        for (int round = 1; round <= rounds(evaluation); round++) {
            for (var shape : shapes.entrySet()) {
                List<String> options = new ArrayList<>(List.of("--mix=NEW_ORDERS", "--warehouses=2",
                        "--seconds=" + evaluation.of(10.0, 1.0), "--warm-up=" + evaluation.of(15.0, 0.5),
                        "--directory=" + evaluation.memory));
                options.addAll(shape.getValue());
                String name = "separate-" + shape.getKey().replace(' ', '-') + "-" + round;
                evaluation.run(name, PeerKind.SAS, null, options).ifPresent(
                        report -> reports.computeIfAbsent(shape.getKey(), key -> new ArrayList<>()).add(report));
            }
        }
        List<Report> one = reports.get("1 thread");
        List<String> csv = new ArrayList<>();
        reports.forEach((shape, its) -> {
            double conflicts =
                    PeerTable.median(its, it -> 1000.0 * it.outcome().conflicts() / it.outcome().transactions());
            String toOne = one == null ? "-"
                    : "%.2f".formatted(PeerTable.median(its, Report::tpm) / PeerTable.median(one, Report::tpm));
            evaluation.say("| %s | %s | %s | %.2f | %s |".formatted(shape, join(its, Report::tpm, "%,.0f"),
                    join(its, Report::cpuMicros, "%.1f"), conflicts, toOne));
            its.forEach(report -> csv.add("%s,%s,%s".formatted(shape, report.tpm(), report.cpuMicros())));
            if (one != null && its != one) {
                ratioBar(evaluation, shape + " on separate warehouses to one, without sync", its, one, Report::tpm,
                        "at least 1.5", 1.5);
            }
        });
        evaluation.csv("separate", "shape,tpm,cpu_us", csv);
    }

    private static String join(List<Report> reports, ToDoubleFunction<Report> figure, String format) {
        return String.join(", ",
                reports.stream().map(report -> format.formatted(figure.applyAsDouble(report))).toList());
    }

    static void ratio(Evaluation evaluation) throws IOException, InterruptedException {
        evaluation.say("""

                ## BOB-C to TPC-C

                The paper's figure of merit is its tpmBOB-C divided by the tpmC that a relational system has on the same
                processor: 120 to 1,000, 0.12. Its 1,000 were an audited result of another machine with more than 512 MB
                of memory, 10 GB of RAID, some hundred warehouses and real terminals; no audited result exists for this
                machine, and none of its figures is one. What can be compared are the same five transactions, asked for
                by the same terminals, of objects and of embedded relational databases in one run: full mix, 1/100
                scale. """);
        List<String> csv = new ArrayList<>();
        for (Place place : places(evaluation)) {
            if (place.name.equals("tmpfs-1") || place.name.equals("disk-8")) {
                List<String> options = List.of("--warehouses=" + warehouses(evaluation, place),
                        "--threads=" + place.clients, "--seconds=" + evaluation.of(8.0, 0.8),
                        "--warm-up=" + evaluation.of(10.0, 0.4), "--directory=" + place.directory);
                Map<PeerKind, List<Report>> reports = rounds(evaluation, "ratio-" + place.name,
                        List.of(PeerKind.SAS, PeerKind.SQLITE, PeerKind.H2), options);
                evaluation.say("### " + place.title + "\n\n" + new PeerTable(reports, PeerKind.SAS));
                for (PeerKind kind : List.of(PeerKind.SQLITE, PeerKind.H2)) {
                    if (reports.containsKey(PeerKind.SAS) && reports.containsKey(kind)) {
                        double ratio = PeerTable.median(reports.get(PeerKind.SAS), Report::tpm)
                                / PeerTable.median(reports.get(kind), Report::tpm);
                        evaluation.say("- objects to %s, %s: %.2f (paper: 0.12)"
                                .formatted(kind.title, place.title, ratio));
                        csv.add("%s,%s,%s".formatted(place.name, kind, ratio));
                    }
                }
                evaluation.say("");
            }
        }
        evaluation.csv("ratio", "place,relational,ratio", csv);
    }
}
