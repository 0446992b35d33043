package dev.norn.bobc;

import dev.norn.bobc.workload.Draw;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * What New-Orders cost, in nanoseconds, from the times of short batches: the quantiles leave out those that other work
 * on the machine has interrupted. {@code PLAIN}, or {@code SAS} with the agent, in a store below the directory that is
 * given; each thread has a warehouse of its own. Compare versions on one machine, in turn.
 */
final class NewOrderBench {
    private static final int BATCH = 20;
    private static final double WARM_UP_SECONDS = 5;
    private static final double SECONDS = 3;

    private NewOrderBench() {}

    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[2]);
        try (Scratch at = new Scratch(Path.of(arguments[1]));
                Peer peer = arguments[0].equals("SAS")
                        ? new SasPeer(at.path.resolve("store"), Scale.HUNDREDTH, null) : new PlainPeer()) {
            peer.populate(Scale.HUNDREDTH, threads, 1997);
            long[][] times = new long[threads][];
            CountDownLatch ready = new CountDownLatch(threads);
            Thread[] all = new Thread[threads];
            for (int i = 0; i < threads; i++) {
                int number = i;
                all[i] = Thread.ofPlatform()
                        .start(() -> times[number] = measure(peer.client(), number, threads, ready));
            }
            for (Thread thread : all) {
                thread.join();
            }
            report(arguments[0], threads, Arrays.stream(times).flatMapToLong(Arrays::stream).sorted().toArray());
        }
    }

    private static long[] measure(Peer.Client client, int number, int warehouses, CountDownLatch ready) {
        Draw draw = new Draw(1997 + number, Scale.HUNDREDTH);
        Terminal terminal = new Terminal(draw, Scale.HUNDREDTH, number, warehouses, Terminal.Mix.NEW_ORDERS);
        batches(client, terminal, WARM_UP_SECONDS);
        ready.countDown();
        while (ready.getCount() > 0) {
            batches(client, terminal, 0.01);
        }
        return batches(client, terminal, SECONDS);
    }

    /** The times of batches, until the time is over. */
    private static long[] batches(Peer.Client client, Terminal terminal, double seconds) {
        long[] times = new long[1 << 16];
        int count = 0;
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (long now = System.nanoTime(); now < end;) {
            Request[] requests = new Request[BATCH];
            Arrays.setAll(requests, i -> terminal.next());
            long start = System.nanoTime();
            for (Request request : requests) {
                client.run(request, null);
            }
            now = System.nanoTime();
            times[count++ % times.length] = now - start;
        }
        return Arrays.copyOf(times, Math.min(count, times.length));
    }

    private static void report(String who, int threads, long[] sorted) {
        System.out.printf("%-5s %d threads, ns a New-Order: in a tenth of the batches %,d, a quarter %,d, half %,d%n",
                who, threads, sorted[sorted.length / 10] / BATCH, sorted[sorted.length / 4] / BATCH,
                sorted[sorted.length / 2] / BATCH);
    }
}
