package dev.norn.bobc;

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/** A run's figures: as lines to read, and as one line for the JVM that asked for the run. */
record Report(Drive.Outcome outcome, double populateSeconds, double probeBefore, double probeAfter) {
    private static final String MARK = "bobc;";

    double tpm() {
        return outcome.newOrders() / outcome.seconds() * 60;
    }

    double cpuMicros() {
        return outcome.cpuNanos() / 1000.0 / outcome.transactions();
    }

    private static String per(long count, long transactions, String format) {
        return count < 0 ? "not counted" : format.formatted((double) count / transactions);
    }

    List<String> lines(Peer.Durability durability) {
        Drive.Outcome its = outcome;
        List<String> lines = new ArrayList<>();
        lines.add("%-26s %,.0f tpmBOB-C, %,.0f New-Orders/s".formatted("New-Orders", tpm(), tpm() / 60));
        StringJoiner mix = new StringJoiner(", ");
        for (Request.Kind kind : Request.Kind.values()) {
            mix.add("%s %,d".formatted(kind, its.committed()[kind.ordinal()]));
        }
        lines.add("%-26s %s in %.1f s".formatted("committed", mix, its.seconds()));
        lines.add("%-26s %,d rolled back as they should, %,d conflicts tried again".formatted("not committed", its.rolledBack(), its.conflicts()));
        lines.add("%-26s %.1f us of CPU, %s bytes logged, %,.0f bytes written, %,.0f bytes of pages dirtied, %s syncs".formatted("each transaction", cpuMicros(),
                per(its.counts().loggedBytes(), its.transactions(), "%,.0f"), (double) its.writtenBytes() / its.transactions(),
                (double) its.dirtiedBytes() / its.transactions(), per(its.counts().syncs(), its.transactions(), "%.3f")));
        lines.add("%-26s %s".formatted("checkpoints", its.counts().checkpoints() < 0 ? "not counted" : its.counts().checkpoints()));
        lines.add("%-26s %.0f us before, %.0f us after".formatted("fdatasync of 512 bytes", probeBefore, probeAfter));
        lines.add("%-26s %.1f s".formatted("populated in", populateSeconds));
        lines.add("%-26s %s".formatted("survives", durability.survives));
        return lines;
    }

    String encode() {
        StringJoiner line = new StringJoiner(";", MARK, "");
        line.add(Double.toString(outcome.seconds()));
        for (long count : outcome.committed()) {
            line.add(Long.toString(count));
        }
        for (long count : new long[] {outcome.rolledBack(), outcome.conflicts(), outcome.cpuNanos(), outcome.writtenBytes(), outcome.dirtiedBytes(),
            outcome.counts().syncs(), outcome.counts().loggedBytes(), outcome.counts().checkpoints()}) {
            line.add(Long.toString(count));
        }
        return line.add(Double.toString(populateSeconds)).add(Double.toString(probeBefore)).add(Double.toString(probeAfter)).toString();
    }

    static boolean isEncoded(String line) {
        return line.startsWith(MARK);
    }

    static Report decode(String line) {
        String[] words = line.substring(MARK.length()).split(";");
        long[] committed = new long[Request.Kind.values().length];
        int at = 0;
        double seconds = Double.parseDouble(words[at++]);
        for (int i = 0; i < committed.length; i++) {
            committed[i] = Long.parseLong(words[at++]);
        }
        long[] rest = new long[8];
        for (int i = 0; i < rest.length; i++) {
            rest[i] = Long.parseLong(words[at++]);
        }
        var outcome = new Drive.Outcome(seconds, committed, rest[0], rest[1], rest[2], rest[3], rest[4], new Peer.Counts(rest[5], rest[6], rest[7]));
        return new Report(outcome, Double.parseDouble(words[at++]), Double.parseDouble(words[at++]), Double.parseDouble(words[at]));
    }

    /** Several processes' outcomes as one. Counts of the store are the same for all, so the first one's are taken. */
    static Drive.Outcome sum(List<Drive.Outcome> parts) {
        Drive.Outcome first = parts.getFirst();
        long[] committed = new long[first.committed().length];
        long[] sums = new long[5];
        for (Drive.Outcome part : parts) {
            for (int i = 0; i < committed.length; i++) {
                committed[i] += part.committed()[i];
            }
            sums[0] += part.rolledBack();
            sums[1] += part.conflicts();
            sums[2] += part.cpuNanos();
            sums[3] += part.writtenBytes();
            sums[4] += part.dirtiedBytes();
        }
        return new Drive.Outcome(first.seconds(), committed, sums[0], sums[1], sums[2], sums[3], sums[4], first.counts());
    }
}
