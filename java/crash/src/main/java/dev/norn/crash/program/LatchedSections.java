package dev.norn.crash.program;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** Throws at a point inside a latched section, that is at a step that a thread reaches while it holds a latch. Knows the points that were reached. */
final class LatchedSections {
    private final BitSet begins;
    private final BitSet ends;
    private final ThreadLocal<int[]> depth = ThreadLocal.withInitial(() -> new int[1]);
    private final Map<Integer, Integer> points = new ConcurrentHashMap<>();
    private int target = -1;
    private int left;
    private Supplier<? extends Throwable> what;
    private volatile Throwable thrown;

    /**
     * @param begins the steps at which a section begins
     * @param ends those at which it ends, whether it returns or throws
     */
    LatchedSections(BitSet begins, BitSet ends) {
        this.begins = begins;
        this.ends = ends;
    }

    /** The points that were reached inside sections so far, and how often. */
    Map<Integer, Integer> points() {
        return points;
    }

    /** Throws when the point is reached so many times, once. */
    synchronized void arm(int point, int count, Supplier<? extends Throwable> throwable) {
        thrown = null;
        target = point;
        left = count;
        what = throwable;
    }

    /** Throws no more, if it has not yet. */
    synchronized void disarm() {
        target = -1;
    }

    /** Whether something was thrown since the last {@link #arm}. */
    boolean hasThrown() {
        return thrown != null;
    }

    /** Whether that is what was thrown, or what led to it. */
    boolean hasThrown(Throwable e) {
        Throwable its = thrown;
        for (Throwable at = e; at != null; at = at.getCause()) {
            if (at == its || Arrays.asList(at.getSuppressed()).contains(its)) {
                return true;
            }
        }
        return false;
    }

    void at(int step) {
        int[] its = depth.get();
        if (ends.get(step)) {
            its[0]--;
        } else if (begins.get(step)) {
            its[0]++;
        } else if (its[0] > 0) {
            points.merge(step, 1, Integer::sum);
            if (step == target) {
                reach();
            }
        }
    }

    private synchronized void reach() {
        if (--left == 0) {
            target = -1;
            thrown = what.get();
            LatchedSections.<RuntimeException>sneak(thrown);
        }
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> void sneak(Throwable e) throws X {
        throw (X) e;
    }
}
