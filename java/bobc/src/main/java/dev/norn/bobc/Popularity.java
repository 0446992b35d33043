package dev.norn.bobc;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Which of several objects a client takes: by Zipf's law, the k-th in proportion to 1/k^1.001. */
final class Popularity {
    /** The least that {@code random_zipfian} of pgbench takes, so that all peers draw alike. */
    static final double EXPONENT = 1.001;

    /** Of each object, the share of those up to it. */
    private final double[] shares;

    Popularity(int objects) {
        shares = new double[objects];
        double sum = 0;
        for (int i = 0; i < objects; i++) {
            sum += Math.pow(i + 1, -EXPONENT);
            shares[i] = sum;
        }
        for (int i = 0; i < objects; i++) {
            shares[i] /= sum;
        }
    }

    int draw(SplittableRandom random) {
        int found = Arrays.binarySearch(shares, random.nextDouble());
        return Math.min(found < 0 ? -found - 1 : found, shares.length - 1);
    }
}
