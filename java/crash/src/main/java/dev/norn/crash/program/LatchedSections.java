package dev.norn.crash.program;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Throws at points inside latched sections, that is at steps that a thread reaches while it holds a latch: at each
 * point some times, one throw for each time that it is allowed.
 */
final class LatchedSections {
    private static final List<Supplier<Throwable>> THROWABLES =
            List.of(() -> new StackOverflowError("thrown at a step"), () -> new OutOfMemoryError("thrown at a step"),
                    () -> new IllegalStateException("thrown at a step"));

    private final BitSet begins;
    private final BitSet ends;
    private final int throwsAtEach;
    private final ThreadLocal<int[]> depth = ThreadLocal.withInitial(() -> new int[1]);
    /** Sections in which threads are now. */
    private final AtomicInteger open = new AtomicInteger();
    private final Map<Integer, Integer> thrownAt = new HashMap<>();
    private volatile boolean mayThrow;
    private volatile Throwable last;
    private int point;

    /**
     * @param begins the steps at which a section begins
     * @param ends those at which it ends, whether it returns or throws
     * @param throwsAtEach how often each point throws; each time something else
     */
    LatchedSections(BitSet begins, BitSet ends, int throwsAtEach) {
        this.begins = begins;
        this.ends = ends;
        this.throwsAtEach = throwsAtEach;
    }

    /** Lets the next point throw that has not thrown as often as it may. */
    synchronized void allow() {
        last = null;
        mayThrow = true;
    }

    /** Lets nothing throw; returns what was thrown since {@link #allow}, or null. */
    synchronized Throwable forbid() {
        mayThrow = false;
        return last;
    }

    /** The point at which {@link #forbid} found something thrown. */
    synchronized int point() {
        return point;
    }

    synchronized int points() {
        return thrownAt.size();
    }

    /** Whether that is what was thrown last, or what led to it. */
    boolean hasThrown(Throwable e) {
        Throwable its = last;
        for (Throwable at = e; at != null && its != null; at = at.getCause()) {
            if (at == its || Arrays.asList(at.getSuppressed()).contains(its)) {
                return true;
            }
        }
        return false;
    }

    void at(int step) {
        if (begins.get(step)) {
            depth.get()[0]++;
            open.incrementAndGet();
        } else if (open.get() > 0 && ends.get(step)) {
            depth.get()[0]--;
            open.decrementAndGet();
        } else if (mayThrow && open.get() > 0 && depth.get()[0] > 0) {
            reach(step);
        }
    }

    private synchronized void reach(int step) {
        int before = thrownAt.getOrDefault(step, 0);
        if (mayThrow && before < throwsAtEach) {
            thrownAt.put(step, before + 1);
            mayThrow = false;
            point = step;
            last = THROWABLES.get((step + before) % THROWABLES.size()).get();
            LatchedSections.<RuntimeException>sneak(last);
        }
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> void sneak(Throwable e) throws X {
        throw (X) e;
    }
}
