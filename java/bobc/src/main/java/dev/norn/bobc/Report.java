package dev.norn.bobc;

import dev.norn.bobc.workload.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;

/** A run's figures: as lines to read, and as figures for the JVM that asked for the run. */
record Report(Drive.Outcome outcome, double populateSeconds, double probeBefore, double probeAfter) {
    double tpm() {
        return outcome.newOrders() / outcome.seconds() * 60;
    }

    double cpuMicros() {
        return outcome.usage().cpuNanos() / 1000.0 / outcome.transactions();
    }

    private static String per(long count, long transactions, String format) {
        return count < 0 ? "not counted" : format.formatted((double) count / transactions);
    }

    List<String> lines(String survives) {
        Drive.Outcome its = outcome;
        Drive.Usage used = its.usage();
        long transactions = its.transactions();
        List<String> lines = new ArrayList<>();
        lines.add("%-26s %,.0f tpmBOB-C, %,.0f New-Orders/s".formatted("New-Orders", tpm(), tpm() / 60));
        StringJoiner mix = new StringJoiner(", ");
        for (Request.Kind kind : Request.Kind.values()) {
            mix.add("%s %,d".formatted(kind, its.committed()[kind.ordinal()]));
        }
        lines.add("%-26s %s in %.1f s".formatted("committed", mix, its.seconds()));
        lines.add("%-26s %,d rolled back as they should, %,d conflicts tried again"
                .formatted("not committed", its.rolledBack(), its.conflicts()));
        lines.add("%-26s %.1f us of CPU, %s bytes logged, %,.0f bytes written, %,.0f bytes of pages dirtied, %s syncs"
                .formatted("each transaction", cpuMicros(),
                per(its.counts().loggedBytes(), transactions, "%,.0f"), (double) used.writtenBytes() / transactions,
                (double) used.dirtiedBytes() / transactions,
                per(its.counts().syncs(), transactions, "%.3f")));
        lines.add("%-26s %,d, %,d bytes read"
                .formatted("faults that read a disk", used.majorFaults(), used.readBytes()));
        lines.add("%-26s %s"
                .formatted("checkpoints", its.counts().checkpoints() < 0 ? "not counted" : its.counts().checkpoints()));
        lines.add("%-26s %.0f us before, %.0f us after".formatted("fdatasync of 512 bytes", probeBefore, probeAfter));
        lines.add("%-26s %.1f s".formatted("populated in", populateSeconds));
        lines.add("%-26s %s".formatted("survives", survives));
        return lines;
    }

    private static String name(Request.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    Figures figures() {
        Figures figures = new Figures().with("seconds", outcome.seconds());
        for (Request.Kind kind : Request.Kind.values()) {
            figures.with(name(kind), outcome.committed()[kind.ordinal()]);
        }
        Drive.Usage used = outcome.usage();
        Peer.Counts counts = outcome.counts();
        return figures.with("rolled_back", outcome.rolledBack()).with("conflicts", outcome.conflicts())
                .with("entered", outcome.entered()).with("cpu_ns", used.cpuNanos())
                .with("written_bytes", used.writtenBytes()).with("dirtied_bytes", used.dirtiedBytes())
                .with("read_bytes", used.readBytes())
                .with("major_faults", used.majorFaults()).with("syncs", counts.syncs())
                .with("logged_bytes", counts.loggedBytes())
                .with("checkpoints", counts.checkpoints()).with("populate_s", populateSeconds)
                .with("probe_before_us", probeBefore).with("probe_after_us", probeAfter);
    }

    static Report of(Figures figures) {
        long[] committed = new long[Request.Kind.values().length];
        for (Request.Kind kind : Request.Kind.values()) {
            committed[kind.ordinal()] = figures.whole(name(kind));
        }
        var usage = new Drive.Usage(figures.whole("cpu_ns"), figures.whole("written_bytes"),
                figures.whole("dirtied_bytes"), figures.whole("read_bytes"), figures.whole("major_faults"));
        var counts =
                new Peer.Counts(figures.whole("syncs"), figures.whole("logged_bytes"), figures.whole("checkpoints"));
        var outcome = new Drive.Outcome(figures.get("seconds"), committed, figures.whole("rolled_back"),
                figures.whole("conflicts"), figures.whole("entered"), usage, counts);
        return new Report(outcome, figures.get("populate_s"), figures.get("probe_before_us"),
                figures.get("probe_after_us"));
    }

    /** Several processes' outcomes as one. Counts of the store are the same for all, so the first one's are taken. */
    static Drive.Outcome sum(List<Drive.Outcome> parts) {
        Drive.Outcome first = parts.getFirst();
        long[] committed = new long[first.committed().length];
        long rolledBack = 0;
        long conflicts = 0;
        long entered = 0;
        Drive.Usage usage = new Drive.Usage(0, 0, 0, 0, 0);
        for (Drive.Outcome part : parts) {
            for (int i = 0; i < committed.length; i++) {
                committed[i] += part.committed()[i];
            }
            rolledBack += part.rolledBack();
            conflicts += part.conflicts();
            entered += part.entered();
            usage = usage.plus(part.usage(), 1);
        }
        return new Drive.Outcome(first.seconds(), committed, rolledBack, conflicts, entered, usage, first.counts());
    }
}
