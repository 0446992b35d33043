package dev.norn.bobc;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * Fills a target with numbered objects, each of which refers to three that were made before, drawn at random: so most
 * of what it refers to is in no cache. What is measured begins with the first object in a JVM that has just been
 * started, and ends when the last transaction is durable.
 */
final class Load {
    private final int objects;
    private final int batch;
    private final SplittableRandom random;
    private LoadTarget.Sums expected = LoadTarget.Sums.NOTHING;

    /** @param batch objects of a transaction */
    Load(int objects, int batch, long seed) {
        this.objects = objects;
        this.batch = batch;
        random = new SplittableRandom(seed);
    }

    /**
     * Measures. Bytes are those that this thread has allocated on the heap; CPU time is this thread's, and that of the
     * process, compilers and collectors included.
     *
     * @throws IllegalStateException if the target does not have what was added
     */
    Figures run(LoadTarget target, Path directory) throws Exception {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        double probeBefore = Probe.syncMicros(directory);
        long written = Probe.io("self", "wchar");
        long allocated = threads.getCurrentThreadAllocatedBytes();
        long cpu = Probe.cpuNanos();
        long own = threads.getCurrentThreadCpuTime();
        long start = System.nanoTime();
        int half = objects / batch / 2 * batch;
        fill(target, 0, half);
        long middle = System.nanoTime();
        long ownMiddle = threads.getCurrentThreadCpuTime();
        fill(target, half, objects);
        long end = System.nanoTime();
        Figures figures = new Figures().with("objects", objects).with("batch", batch)
                .with("seconds", (end - start) / 1e9).with("second_half_s", (end - middle) / 1e9)
                .with("second_half_objects", objects - half)
                .with("thread_cpu_s", (threads.getCurrentThreadCpuTime() - own) / 1e9)
                .with("second_half_thread_cpu_s", (threads.getCurrentThreadCpuTime() - ownMiddle) / 1e9)
                .with("cpu_s", (Probe.cpuNanos() - cpu) / 1e9)
                .with("allocated_bytes", threads.getCurrentThreadAllocatedBytes() - allocated)
                .with("written_bytes", Probe.io("self", "wchar") - written).with("probe_before_us", probeBefore)
                .with("probe_after_us", Probe.syncMicros(directory)).with("file_bytes", bytes(directory));
        check(target.sums());
        return figures;
    }

    private static double bytes(Path directory) throws IOException {
        return Probe.diskBytes(directory);
    }

    private void fill(LoadTarget target, int from, int to) throws Exception {
        for (int first = from; first < to; first += batch) {
            target.begin();
            for (int number = first; number < Math.min(to, first + batch); number++) {
                add(target, number);
            }
            target.commit();
        }
    }

    private void add(LoadTarget target, int number) throws Exception {
        int first = draw(number);
        int second = draw(number);
        int third = draw(number);
        target.add(number, first, second, third);
        expected = expected.plus(number, (long) Math.max(first, 0) + Math.max(second, 0) + Math.max(third, 0));
    }

    private int draw(int number) {
        return number == 0 ? LoadTarget.NONE : random.nextInt(number);
    }

    private void check(LoadTarget.Sums found) {
        if (!found.equals(expected)) {
            throw new IllegalStateException("what was added is " + expected + ", but what is there is " + found);
        }
    }
}
