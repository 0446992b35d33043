package dev.norn.bobc;

/**
 * How long calls took: counts by length, each length to a sixteenth, and the longest. Not thread-safe.
 *
 * <p>Below 16 ns each length has a count of its own; above, each power of two has 16.
 */
final class Waits {
    private static final int STEP_BITS = 4;
    private static final int STEPS = 1 << STEP_BITS;
    private static final int PLACES = (Long.SIZE - STEP_BITS) * STEPS;

    private final int[] counts = new int[PLACES];
    private long count;
    private long longest;

    void add(long nanos) {
        counts[place(nanos)]++;
        count++;
        longest = Math.max(longest, nanos);
    }

    void add(Waits more) {
        for (int i = 0; i < PLACES; i++) {
            counts[i] += more.counts[i];
        }
        count += more.count;
        longest = Math.max(longest, more.longest);
    }

    private static int place(long nanos) {
        if (nanos < STEPS) {
            return (int) Math.max(nanos, 0);
        }
        int shift = Long.SIZE - 1 - STEP_BITS - Long.numberOfLeadingZeros(nanos);
        return (shift << STEP_BITS) + (int) (nanos >>> shift);
    }

    /** The longest that has the place. */
    private static long longestAt(int place) {
        if (place < STEPS) {
            return place;
        }
        int shift = (place >> STEP_BITS) - 1;
        return ((long) (place & STEPS - 1 | STEPS) + 1 << shift) - 1;
    }

    double longestMillis() {
        return longest / 1e6;
    }

    /** What a share of the calls, from 0 to 1, took at most; 0 if there were none. */
    double millis(double share) {
        long left = (long) Math.ceil(share * count);
        for (int i = 0; i < PLACES; i++) {
            left -= counts[i];
            if (left <= 0 && counts[i] > 0) {
                return Math.min(longestAt(i), longest) / 1e6;
            }
        }
        return 0;
    }

    Figures addTo(Figures figures) {
        for (int i = 0; i < PLACES; i++) {
            if (counts[i] > 0) {
                figures.with(name(i), counts[i]);
            }
        }
        return figures.with("wait_longest", longest);
    }

    static Waits of(Figures figures) {
        Waits waits = new Waits();
        for (int i = 0; i < PLACES; i++) {
            waits.counts[i] = (int) figures.getOrElse(name(i), 0);
            waits.count += waits.counts[i];
        }
        waits.longest = figures.whole("wait_longest");
        return waits;
    }

    private static String name(int place) {
        return "wait_" + place;
    }
}
