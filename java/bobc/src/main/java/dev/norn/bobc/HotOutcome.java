package dev.norn.bobc;

/**
 * What clients did.
 *
 * @param seconds that were measured
 * @param commits calls that ended within these seconds
 * @param tries how many times the transactions of these calls were run
 * @param conflicts exceptions that reached a caller, from the beginning on
 * @param acknowledged calls that returned, from the beginning to the end
 * @param syncs within the measured seconds; -1 if they cannot be counted
 * @param cpuNanos of the processors that the clients' process has used within them; -1 if it is not counted
 * @param waits how long calls took that ended within these seconds or later
 */
record HotOutcome(double seconds, long commits, long tries, long conflicts, long acknowledged, long syncs,
                  long cpuNanos, Waits waits) {
    double rate() {
        return commits / seconds;
    }

    /** Of two processes. Syncs are the store's, so both have counted the same. */
    HotOutcome plus(HotOutcome more) {
        Waits all = new Waits();
        all.add(waits);
        all.add(more.waits);
        return new HotOutcome(seconds, commits + more.commits, tries + more.tries, conflicts + more.conflicts,
                acknowledged + more.acknowledged, syncs, cpuNanos + more.cpuNanos, all);
    }

    /** @throws RunFailed if the accounts have another sum than what was acknowledged */
    HotOutcome requireSum(long sum) {
        if (sum != acknowledged) {
            throw new RunFailed("%,d increments were acknowledged, but the sum is %,d when the data are opened again"
                    .formatted(acknowledged, sum));
        }
        return this;
    }

    Figures figures() {
        return waits.addTo(new Figures().with("seconds", seconds).with("commits", commits).with("tries", tries)
                .with("conflicts", conflicts).with("acknowledged", acknowledged).with("syncs", syncs)
                .with("cpu_ns", cpuNanos));
    }

    static HotOutcome of(Figures figures) {
        return new HotOutcome(figures.get("seconds"), figures.whole("commits"), figures.whole("tries"),
                figures.whole("conflicts"), figures.whole("acknowledged"), figures.whole("syncs"),
                figures.whole("cpu_ns"), Waits.of(figures));
    }
}
