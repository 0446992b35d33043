package dev.norn.sas.runtime;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The handles that a transaction used, for as long as they may keep what their reference fields led to. Kept targets make the next transaction faster, but whoever holds on to one handle would
 * hold on to all that was ever reached from it. So after {@value #TRANSACTIONS} more transactions of this JVM, handles that none of them used give their targets up.
 *
 * <p>A target that is given up is found again by its reference; so it does no harm when a handle that another thread holds gives its targets up.
 */
public final class RecentHandles {
    static final int TRANSACTIONS = 1024;
    /** A transaction that used more handles than this keeps no targets beyond its end. */
    static final int HANDLES_MAX = 256;

    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final AtomicReferenceArray<RecentHandles> RING = new AtomicReferenceArray<>(TRANSACTIONS);

    private final SasObject[] handles;
    private final int count;
    private final int number;

    private RecentHandles(SasObject[] handles, int count, int number) {
        this.handles = handles;
        this.count = count;
        this.number = number;
    }

    /** The number of a transaction that begins, which its handles are marked with. */
    static int next() {
        return NUMBERS.incrementAndGet();
    }

    /** Takes the handles that a transaction used, some of them null, which nobody changes any more. */
    static void add(SasObject[] handles, int count, int number) {
        RecentHandles its = new RecentHandles(handles, count, number);
        RecentHandles old = count > HANDLES_MAX ? its : RING.getAndSet(number & TRANSACTIONS - 1, its);
        if (old != null) {
            old.giveUp();
        }
    }

    /** Later transactions have marked the handles that they use as theirs. */
    private void giveUp() {
        for (int i = 0; i < count; i++) {
            if (handles[i] != null && handles[i].$sas$used() == number) {
                handles[i].$sas$drop();
            }
        }
    }

    /** Forgets all of them, when the store is closed. */
    public static void clear() {
        for (int i = 0; i < TRANSACTIONS; i++) {
            RING.set(i, null);
        }
    }
}
