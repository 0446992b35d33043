package dev.norn.sas.store.memory;

import java.util.concurrent.locks.LockSupport;

/** How a thread waits that looks at shared memory again and again. */
public final class Backoff {
    /**
     * Tens of microseconds, as long as a transaction holds a lock, or a record takes to be written. Sleeping takes as
     * long as several transactions.
     */
    public static final int SPINS = 1000;

    private Backoff() {}

    /** Spins at first; then sleeps, longer each time, a millisecond at most. */
    public static void pause(int spins) {
        if (spins < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(Math.min(1_000_000, 20_000L * (spins - SPINS + 1)));
        }
    }
}
