package dev.norn.crash;

import dev.norn.crash.program.Hazard;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Many rounds, some of them at the same time: a round waits more than it computes. What rounds leave is in memory, if
 * the machine has such files, and stays there where a round found something.
 *
 * @param seed of the first round; the next have the next numbers
 * @param lanes how many rounds run at the same time
 * @param endsEarly whether no other round begins when one has found something
 */
record Campaign(int rounds, long seed, int lanes, boolean endsEarly, Set<Hazard> hazards, int watchdogSeconds) {
    private static final Path MEMORY = Path.of("/dev/shm");

    /**
     * What came of it: the seeds of the rounds that found something, and how many transactions were acknowledged in
     * all.
     */
    record Result(int rounds, List<Long> failed, long committed, double seconds) {
        @Override
        public String toString() {
            return "%,d rounds, %,d transactions acknowledged, %.0f s: %s".formatted(rounds, committed, seconds,
                    failed.isEmpty() ? "nothing found"
                            : failed.size() + " rounds found something, with the seeds " + failed);
        }
    }

    /**
     * Where stores are made: where NORN_CRASH_FILES says, or in memory, if the machine has such files. What is proved
     * does not depend on a disk.
     */
    static Path base() {
        String asked = System.getenv("NORN_CRASH_FILES");
        return asked != null ? Path.of(asked) : Files.isDirectory(MEMORY) ? MEMORY
                : Path.of(System.getProperty("java.io.tmpdir"));
    }

    /** Runs the rounds; {@code report} gets each one's result. */
    Result run(Children children, Consumer<Round.Result> report) throws IOException, InterruptedException {
        long start = System.nanoTime();
        Path base = Files.createTempDirectory(base(), "norn-crash-");
        AtomicInteger next = new AtomicInteger();
        List<Round.Result> results = new ArrayList<>();
        try (var executor = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().factory())) {
            List<Future<Void>> running = new ArrayList<>();
            for (int lane = 0; lane < lanes; lane++) {
                Path directory = Files.createDirectories(base.resolve("lane-" + lane));
                running.add(executor.submit(lane(children, directory, next, results, report)));
            }
            for (Future<Void> its : running) {
                its.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("the harness failed", e.getCause());
        }
        List<Long> failed = results.stream()
                .filter(its -> its.finding() != null).map(Round.Result::seed).sorted().toList();
        if (failed.isEmpty()) {
            Trees.delete(base);
        }
        return new Result(results.size(), failed, results.stream().mapToLong(Round.Result::committed).sum(),
                (System.nanoTime() - start) / 1e9);
    }

    private Callable<Void> lane(Children children, Path directory, AtomicInteger next, List<Round.Result> results,
            Consumer<Round.Result> report) {
        return () -> {
            try (Inspectors inspectors = new Inspectors(children, directory)) {
                for (int round = next.getAndIncrement(); round < rounds; round = next.getAndIncrement()) {
                    Path its = directory.resolve("round-" + (seed + round));
                    Round.Result result =
                            new Round(seed + round, hazards, children, inspectors, its, watchdogSeconds).run();
                    if (result.finding() == null) {
                        Trees.delete(its);
                    } else if (endsEarly) {
                        next.set(rounds);
                    }
                    synchronized (results) {
                        results.add(result);
                        report.accept(result);
                    }
                }
            }
            return null;
        };
    }
}
