package dev.norn.bobc.rows;

/**
 * Composite keys, packed into one number that is ordered as its parts are: an order is
 * {@code warehouse | district (4 bits) | number (32)}, a line of it {@code order | number (4)}, so that what belongs
 * together is a range.
 */
public final class Keys {
    public static final int LINES_MAX = 15;

    private Keys() {}

    public static long district(int warehouse, int district) {
        return (long) warehouse << 4 | district;
    }

    public static int warehouseOf(long district) {
        return (int) (district >> 4);
    }

    public static long stock(int warehouse, int item) {
        return (long) warehouse << 20 | item;
    }

    public static int itemOf(long stock) {
        return (int) (stock & (1 << 20) - 1);
    }

    public static long customer(long district, int number) {
        return district << 20 | number;
    }

    public static int customerNumber(long customer) {
        return (int) (customer & (1 << 20) - 1);
    }

    public static long districtOfCustomer(long customer) {
        return customer >> 20;
    }

    /** @param payment counts the payments of the customer */
    public static long history(long customer, int payment) {
        return customer << 19 | payment;
    }

    public static long order(long district, int number) {
        return district << 32 | number;
    }

    public static long districtOfOrder(long order) {
        return order >> 32;
    }

    public static int orderNumber(long order) {
        return (int) order;
    }

    /** @param number from 1 to {@link #LINES_MAX}; 0 is before all of the order's */
    public static long line(long order, int number) {
        return order << 4 | number;
    }

    public static long orderOf(long line) {
        return line >> 4;
    }
}
