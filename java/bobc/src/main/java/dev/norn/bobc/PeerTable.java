package dev.norn.bobc;

import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * Peers' rounds as a table in Markdown, grouped by what a commit survives: medians, ratios to a peer, and what a
 * transaction cost.
 */
record PeerTable(Map<PeerKind, List<Report>> reports, PeerKind base) {
    static double median(List<Report> reports, ToDoubleFunction<Report> figure) {
        double[] sorted = reports.stream().mapToDouble(figure).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    private String ratio(List<Report> its) {
        return reports.containsKey(base) ? "%.4g".formatted(median(its, Report::tpm)
                / median(reports.get(base), Report::tpm)) : "-";
    }

    private static String perTransaction(List<Report> reports, ToLongFunction<Drive.Outcome> count, String format) {
        return count.applyAsLong(reports.getFirst().outcome()) < 0 ? "not counted" : format.formatted(median(reports,
                it -> (double) count.applyAsLong(it.outcome()) / it.outcome().transactions()));
    }

    private String row(PeerKind kind, List<Report> its) {
        return "| %s | %,.0f | %s | %s | %.1f | %s | %s | %s | %.2f | %.0f, %.0f |%n"
                .formatted(kind.title, median(its, Report::tpm),
                String.join(", ", its.stream().map(it -> "%,.0f".formatted(it.tpm())).toList()), ratio(its),
                median(its, Report::cpuMicros),
                perTransaction(its, it -> it.counts().loggedBytes(), "%,.0f"),
                perTransaction(its, it -> it.usage().writtenBytes(), "%,.0f"),
                perTransaction(its, it -> it.counts().syncs(), "%.3f"),
                median(its, it -> 1000.0 * it.outcome().conflicts() / it.outcome().transactions()),
                median(its, Report::probeBefore), median(its, Report::probeAfter));
    }

    @Override
    public String toString() {
        StringBuilder table = new StringBuilder("| peer | tpmBOB-C, median | all rounds | ratio to " + base
                + " | CPU µs/tx | bytes logged/tx | bytes written/tx | syncs/tx | conflicts/1000 tx | fdatasync µs "
                + "before, after |\n|---|---|---|---|---|---|---|---|---|---|\n");
        for (PeerKind.Durability durability : PeerKind.Durability.values()) {
            if (reports.keySet().stream().anyMatch(kind -> kind.durability == durability)) {
                table.append("| **a commit survives ").append(durability.survives).append("** | | | | | | | | | |\n");
                reports.forEach((kind, its) -> table.append(kind.durability == durability ? row(kind, its) : ""));
            }
        }
        return table.toString();
    }
}
