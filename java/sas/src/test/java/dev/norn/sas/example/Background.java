package dev.norn.sas.example;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Calls in threads of their own, so that a test fails where one of them would wait for ever. */
final class Background {
    /** How long a call may take that would have waited for ever. */
    static final int TIMEOUT_SECONDS = 60;
    /** A thread for each call. None keeps the JVM alive. */
    static final Executor PLATFORM = task -> Thread.ofPlatform().daemon().start(task);

    private Background() {}

    static CompletableFuture<Void> run(Runnable action) {
        return CompletableFuture.runAsync(action, PLATFORM);
    }

    static <T> CompletableFuture<T> call(Supplier<T> action) {
        return CompletableFuture.supplyAsync(action, PLATFORM);
    }

    /** What the call returns or throws; fails if it does not end in time. */
    static <T> T await(CompletableFuture<T> call) {
        return call.orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
    }

    /** Runs it in a thread of its own to its end; fails if it does not end in time. */
    static void inTime(Runnable action) {
        await(run(action));
    }
}
