package dev.norn.sas.store.transaction;

import java.util.concurrent.locks.LockSupport;

/**
 * The thread of a JVM that makes checkpoints before the log is full, so that no transaction has to, and undoes what
 * failed half-way. A commit or a failure wakes it. When it fails itself, the transaction that finds the log full
 * makes the checkpoint, and says what is wrong; the thread tries again after a second, as the disk may have room again.
 */
final class Checkpointer {
    /** Of the log, what is in use when a checkpoint begins. */
    private static final double SHARE = 0.5;
    private static final long RETRY_NANOS = 10_000_000;
    private static final long PAUSE_NANOS = 1_000_000_000;

    private final AttachedStore store;
    private final Thread thread;
    private volatile boolean isOver;
    private volatile boolean isWoken;
    private volatile long lastFailure = System.nanoTime() - PAUSE_NANOS;

    Checkpointer(AttachedStore store) {
        this.store = store;
        thread = Thread.ofPlatform().daemon().name("sas checkpoints of " + store).start(this::run);
    }

    private void run() {
        while (!isOver) {
            isWoken = false;
            long checkpoints = store.counts().checkpoints();
            tend();
            if (store.log().isNearlyFull(SHARE) && store.counts().checkpoints() == checkpoints) {
                lastFailure = System.nanoTime();
            }
            if (store.slots().hasAbandoned()) {
                LockSupport.parkNanos(this, RETRY_NANOS);
            } else {
                rest();
            }
        }
    }

    private void rest() {
        // What is waited for in between takes the permit of a wake: so that alone would not do.
        while (!isWoken && !isOver) {
            LockSupport.park(this);
        }
    }

    private void tend() {
        try {
            store.tend(SHARE);
        } catch (RuntimeException | Error e) {
            // The transaction that needs what could not be done tries it again, and says what is wrong.
        }
    }

    /** Begins to look after the store now. */
    void wake() {
        isWoken = true;
        LockSupport.unpark(thread);
    }

    /** Called when the log has grown; costs a few loads. */
    void look() {
        if (store.log().isNearlyFull(SHARE) && System.nanoTime() - lastFailure >= PAUSE_NANOS) {
            wake();
        }
    }

    /** Returns when the thread has ended; it finishes the checkpoint that it makes. */
    void close() {
        isOver = true;
        wake();
        boolean wasInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
