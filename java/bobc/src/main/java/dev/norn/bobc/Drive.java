package dev.norn.bobc;

import dev.norn.bobc.workload.Draw;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Runs terminals against a peer, one thread each, for some time. */
final class Drive {
    /** What is done with the terminals' screens. */
    enum Screens {
        NONE, BUILD, PRINT
    }

    /** Whether terminals wait for their persons. */
    enum Pace {
        NONE, HUMAN
    }

    /**
     * @param firstTerminal the number of the first thread's terminal
     * @param seconds to measure
     * @param warmUpSeconds before that
     * @param haste what keying and think times are divided by
     */
    record Plan(Scale scale, int warehouses, int threads, int firstTerminal, double seconds, double warmUpSeconds,
            Pace pace, double haste, Screens screens, Terminal.Mix mix, long seed) {}

    /**
     * Counts of the measured time.
     *
     * @param entered New-Orders that were committed before it and after it too
     */
    record Outcome(double seconds, long[] committed, long rolledBack, long conflicts, long entered,
            Usage usage, Peer.Counts counts) {
        long newOrders() {
            return committed[0];
        }

        long transactions() {
            long sum = rolledBack;
            for (long count : committed) {
                sum += count;
            }
            return sum;
        }
    }

    /** What this process has used. Bytes: given to write calls, of pages of files made dirty, read from disks. */
    record Usage(long cpuNanos, long writtenBytes, long dirtiedBytes, long readBytes, long majorFaults) {
        private static final String SELF = "self";

        private static Usage now() {
            return new Usage(Probe.cpuNanos(), Probe.io(SELF, "wchar"), Probe.io(SELF, "write_bytes"),
                    Probe.io(SELF, "read_bytes"), Probe.majorFaults(SELF));
        }

        Usage plus(Usage more, int sign) {
            return new Usage(cpuNanos + sign * more.cpuNanos, writtenBytes + sign * more.writtenBytes,
                    dirtiedBytes + sign * more.dirtiedBytes, readBytes + sign * more.readBytes,
                    majorFaults + sign * more.majorFaults);
        }
    }

    /** Kept for saying that the heap is full. */
    private static final int RESERVE_BYTES = 16 << 20;

    private final Peer peer;
    private final Plan plan;
    private volatile byte[] reserve = new byte[RESERVE_BYTES];
    private final CountDownLatch ready;
    private volatile boolean isMeasuring;
    /** Ends the threads of the persons. Interrupts would close the files that a transaction is writing. */
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private Drive(Peer peer, Plan plan) {
        this.peer = peer;
        this.plan = plan;
        ready = new CountDownLatch(plan.threads);
    }

    static Outcome run(Peer peer, Plan plan) throws InterruptedException {
        return new Drive(peer, plan).run();
    }

    private static final class Tally {
        private final long[] committed = new long[Request.Kind.values().length];
        private long rolledBack;
        private long conflicts;
        private long entered;
    }

    private Outcome run() throws InterruptedException {
        List<Tally> tallies = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < plan.threads; i++) {
            Tally tally = new Tally();
            int number = plan.firstTerminal + i;
            tallies.add(tally);
            threads.add(Thread.ofPlatform().start(() -> work(number, tally)));
        }
        ready.await();
        await(plan.warmUpSeconds);
        Peer.Counts before = peer.counts();
        Usage usage = Usage.now();
        long start = System.nanoTime();
        isMeasuring = true;
        await(plan.seconds);
        isMeasuring = false;
        long nanos = System.nanoTime() - start;
        usage = Usage.now().plus(usage, -1);
        Peer.Counts after = peer.counts();
        over.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() instanceof OutOfMemoryError e) {
            throw e;
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a terminal failed: " + failure.get(), failure.get());
        }
        return outcome(nanos, tallies, usage, before, after);
    }

    /** Until the time is over or a terminal has failed. */
    private void await(double seconds) throws InterruptedException {
        for (long left = (long) (seconds * 1000); left > 0 && failure.get() == null; left -= 100) {
            Thread.sleep(Math.min(left, 100));
        }
    }

    private Outcome outcome(long nanos, List<Tally> tallies, Usage usage, Peer.Counts before, Peer.Counts after) {
        long[] committed = new long[Request.Kind.values().length];
        long rolledBack = 0;
        long conflicts = 0;
        long entered = 0;
        for (Tally tally : tallies) {
            for (int i = 0; i < committed.length; i++) {
                committed[i] += tally.committed[i];
            }
            rolledBack += tally.rolledBack;
            conflicts += tally.conflicts;
            entered += tally.entered;
        }
        var counts = before.syncs() < 0 ? Peer.Counts.UNKNOWN : new Peer.Counts(after.syncs() - before.syncs(),
                after.loggedBytes() - before.loggedBytes(), after.checkpoints() - before.checkpoints());
        return new Outcome(nanos / 1e9, committed, rolledBack, conflicts, entered, usage, counts);
    }

    private void work(int number, Tally tally) {
        Terminal terminal = new Terminal(new Draw(plan.seed * 1_000_003 + number, plan.scale), plan.scale, number,
                plan.warehouses, plan.mix);
        StringBuilder screen = plan.screens == Screens.NONE ? null : new StringBuilder();
        try (Peer.Client client = peer.client()) {
            ready.countDown();
            while (over.getCount() > 0) {
                step(client, terminal, screen, tally);
            }
        } catch (Throwable e) {
            if (e instanceof OutOfMemoryError) {
                reserve = null;
            }
            failure.compareAndSet(null, e);
            ready.countDown();
        }
    }

    private void step(Peer.Client client, Terminal terminal, StringBuilder screen, Tally tally)
            throws InterruptedException {
        Request request = terminal.next();
        if (plan.pace == Pace.HUMAN && pause(request.kind().keying)) {
            return;
        }
        long conflicts = client.conflicts();
        boolean isCommitted = client.run(request, screen);
        if (isCommitted && request.kind() == Request.Kind.NEW_ORDER) {
            tally.entered++;
        }
        if (isMeasuring) {
            tally.conflicts += client.conflicts() - conflicts;
            if (isCommitted) {
                tally.committed[request.kind().ordinal()]++;
            } else {
                tally.rolledBack++;
            }
        }
        if (screen != null) {
            if (plan.screens == Screens.PRINT) {
                System.out.print(screen);
            }
            screen.setLength(0);
        }
        if (plan.pace == Pace.HUMAN) {
            pause(terminal.think(request.kind()));
        }
    }

    /** Waits as a person would before (keying) and after (thinking); returns whether the time is over. */
    private boolean pause(double seconds) throws InterruptedException {
        return over.await((long) (seconds / plan.haste * 1e9), TimeUnit.NANOSECONDS);
    }
}
