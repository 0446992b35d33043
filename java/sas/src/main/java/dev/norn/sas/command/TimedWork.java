package dev.norn.sas.command;

import dev.norn.sas.exception.SASException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** What waits for other machines: says every few seconds for whom, and ends after a stated time at the latest. */
final class TimedWork {
    private static final long SAY_NANOS = 3_000_000_000L;

    private final Consumer<String> print;
    private volatile String step = "begins";

    /** @param print takes a line */
    TimedWork(Consumer<String> print) {
        this.print = print;
    }

    /** @throws SASException if the option is too short a time */
    static void requireWait(long seconds) {
        if (seconds < 1) {
            throw new SASException("--wait is " + seconds + ", less than 1");
        }
    }

    /**
     * Runs the work, which names each of its steps.
     *
     * @param advice what to do if the work has not ended in time
     * @throws SASException with the step and the advice, if it has not
     */
    void run(long seconds, String advice, Consumer<Consumer<String>> work) throws InterruptedException {
        requireWait(seconds);
        long start = System.nanoTime();
        long end = start + TimeUnit.SECONDS.toNanos(seconds);
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("sas-work").start(() -> {
            try {
                work.accept(text -> step = text);
                done.complete(null);
            } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
            }
        });
        for (;;) {
            try {
                done.get(Math.min(SAY_NANOS, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                return;
            } catch (TimeoutException e) {
                if (System.nanoTime() >= end) {
                    throw new SASException("it has not ended after " + seconds + " s, and now " + step + ". " + advice);
                }
                print.accept((System.nanoTime() - start) / 1_000_000_000 + " s: " + step);
            } catch (ExecutionException e) {
                throw e.getCause() instanceof SASException its ? its : new IllegalStateException(e.getCause());
            }
        }
    }
}
