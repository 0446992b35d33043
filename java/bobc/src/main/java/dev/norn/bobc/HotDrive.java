package dev.norn.bobc;

import dev.norn.sas.exception.TransactionConflict;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Runs clients against accounts, one thread each, for some time. */
final class HotDrive {
    /** What the threads are. */
    enum Threads {
        PLATFORM, VIRTUAL;

        private Thread start(Runnable task) {
            return this == VIRTUAL ? Thread.ofVirtual().start(task) : Thread.ofPlatform().start(task);
        }
    }

    /** @param seconds to measure, after those to warm up */
    record Time(int seconds, int warmUp) {}

    private final HotPeer peer;
    private final HotRow row;
    private final Popularity popularity;
    private final CountDownLatch ready;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    /** In nanoseconds, when the measured time begins and ends; written before {@link #begun}. */
    private long from;
    private long until;

    private HotDrive(HotPeer peer, HotRow row) {
        this.peer = peer;
        this.row = row;
        popularity = new Popularity(row.objects());
        ready = new CountDownLatch(row.clients());
    }

    /** @param seed of what the clients draw: each process has another one */
    static HotOutcome run(HotPeer peer, HotRow row, Time time, long seed) throws InterruptedException {
        return new HotDrive(peer, row).run(time, new SplittableRandom(seed));
    }

    private HotOutcome run(Time time, SplittableRandom seeds) throws InterruptedException {
        List<Tally> tallies = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < row.clients(); i++) {
            Tally tally = new Tally(seeds.split());
            tallies.add(tally);
            threads.add(row.threads().start(() -> work(tally)));
        }
        ready.await();
        from = System.nanoTime() + TimeUnit.SECONDS.toNanos(time.warmUp);
        until = from + TimeUnit.SECONDS.toNanos(time.seconds);
        begun.countDown();
        HotOutcome outcome = countMeanwhile(time);
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a client failed: " + failure.get(), failure.get());
        }
        for (Tally tally : tallies) {
            outcome = outcome.plus(tally.outcome());
        }
        return outcome;
    }

    /** What is counted for all clients together. */
    private HotOutcome countMeanwhile(Time time) throws InterruptedException {
        sleepUntil(from);
        long syncs = peer.syncs();
        long nanos = Probe.cpuNanos();
        sleepUntil(until);
        nanos = Probe.cpuNanos() - nanos;
        syncs = syncs < 0 ? syncs : peer.syncs() - syncs;
        return new HotOutcome(time.seconds, 0, 0, 0, 0, syncs, nanos, new Waits());
    }

    private static void sleepUntil(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(nanos - System.nanoTime());
    }

    private void work(Tally tally) {
        try (HotPeer.Client client = peer.client()) {
            ready.countDown();
            begun.await();
            raise(client, tally);
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
            ready.countDown();
        }
    }

    /** The last call ends after the time is over; it is waited for, and its wait counts. */
    private void raise(HotPeer.Client client, Tally tally) {
        long start = System.nanoTime();
        while (start - until < 0) {
            int tries = tally.increment(client, popularity);
            long end = System.nanoTime();
            if (end - from > 0) {
                tally.waits.add(end - start);
                if (tries > 0 && end - until <= 0) {
                    tally.commits++;
                    tally.tries += tries;
                }
            }
            start = end;
        }
    }

    /** Of one client. */
    private static final class Tally {
        private final SplittableRandom draws;
        private final Waits waits = new Waits();
        private long commits;
        private long tries;
        private long conflicts;
        private long acknowledged;

        Tally(SplittableRandom draws) {
            this.draws = draws;
        }

        /** Returns how many tries it took; 0 if it was given up. */
        int increment(HotPeer.Client client, Popularity popularity) {
            try {
                int its = client.increment(popularity.draw(draws));
                acknowledged++;
                return its;
            } catch (TransactionConflict e) {
                conflicts++;
                return 0;
            }
        }

        HotOutcome outcome() {
            return new HotOutcome(0, commits, tries, conflicts, acknowledged, 0, 0, waits);
        }
    }
}
