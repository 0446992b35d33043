package dev.norn.sas.store.memory;

/**
 * Room on the calling thread's stack, which is tried out before something begins that must not overflow in its middle.
 * Recursion in the program may end anywhere; so the store would otherwise be cut off between two stores of shared
 * memory that belong together.
 */
public final class StackRoom {
    private StackRoom() {}

    /**
     * Returns if this number of frames of about 700 bytes fits the stack; costs about 5 ns for each.
     *
     * @throws StackOverflowError if they do not
     */
    public static void require(int frames) {
        long ignored = descend(frames,
                0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0, 0);
    }

    /** As many parameters as make a frame large also when it is compiled. */
    private static long descend(int frames,
            long a0, long a1, long a2, long a3, long a4, long a5, long a6, long a7,
            long b0, long b1, long b2, long b3, long b4, long b5, long b6, long b7,
            long c0, long c1, long c2, long c3, long c4, long c5, long c6, long c7,
            long d0, long d1, long d2, long d3, long d4, long d5, long d6, long d7,
            long e0, long e1, long e2, long e3, long e4, long e5, long e6, long e7) {
        return frames == 0 ? a0 : 1 + descend(frames - 1,
                a0, a1, a2, a3, a4, a5, a6, a7,
                b0, b1, b2, b3, b4, b5, b6, b7,
                c0, c1, c2, c3, c4, c5, c6, c7,
                d0, d1, d2, d3, d4, d5, d6, d7,
                e0, e1, e2, e3, e4, e5, e6, e7);
    }
}
