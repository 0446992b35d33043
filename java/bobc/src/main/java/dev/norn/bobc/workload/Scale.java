package dev.norn.bobc.workload;

/**
 * How large a warehouse is. Full has the cardinalities of TPC-C (clause 1.2.1); the others are the paper's, with items,
 * stock, customers and orders scaled down.
 */
public enum Scale {
    FULL(1), TENTH(10), HUNDREDTH(100);

    public static final int DISTRICTS = 10;
    private final int divisor;

    Scale(int divisor) {
        this.divisor = divisor;
    }

    /** Items of the company, and so the stocks of each warehouse. */
    public int items() {
        return 100_000 / divisor;
    }

    /** Customers of a district, each with one order and one history at first. */
    public int customers() {
        return 3_000 / divisor;
    }

    /** Initial orders of a district that are not delivered: the last ones. */
    public int newOrders() {
        return 900 / divisor;
    }

    /** Different last names of a district's customers. */
    public int lastNames() {
        return Math.min(1_000, customers());
    }

    /** The constant A of NURand (clause 2.1.6) for a range that is scaled too: a power of two less one. */
    int spread(int full) {
        return Integer.highestOneBit((full + 1) / divisor) - 1;
    }
}
