package dev.norn.bobc.model;

import dev.norn.bobc.workload.Scale;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** TPC-C's consistency conditions (clause 3.3.2), except 11, which holds before the first transaction only. */
public final class Consistency {
    private static final int STEP = 500;
    private static final int NUMBER = 0;
    private static final int COUNTED = 1;
    private static final int LINES = 2;
    private static final int LAST = 0;
    private static final int WAITING = 1;

    private final List<String> findings = new ArrayList<>();
    private final Consumer<Runnable> step;

    private Consistency(Consumer<Runnable> step) {
        this.step = step;
    }

    /**
     * What is wrong. Nothing may change meanwhile.
     *
     * @param step runs a part of the work: all of it may be more than a transaction can hold
     */
    public static List<String> check(Company company, Scale scale, Consumer<Runnable> step) {
        Consistency check = new Consistency(step);
        Map<String, Long> paidAt = new HashMap<>();
        for (Warehouse warehouse : company.warehouses) {
            check.equal(0, "stocks of warehouse " + warehouse.number, warehouse.stocks.size(), scale.items());
            for (District district : warehouse.districts) {
                check.customers(district, scale, paidAt);
            }
        }
        for (Warehouse warehouse : company.warehouses) {
            long districts = 0;
            long paid = 0;
            for (District district : warehouse.districts) {
                districts += district.year;
                long paidHere = paidAt.getOrDefault(name(district), 0L);
                paid += paidHere;
                check.equal(9, "payments at " + name(district), district.year, paidHere);
                check.orders(district);
            }
            check.equal(1, "year of warehouse " + warehouse.number, warehouse.year, districts);
            check.equal(8, "payments at warehouse " + warehouse.number, warehouse.year, paid);
        }
        return check.findings;
    }

    /** Orders ever entered. */
    public static long orders(Company company) {
        long sum = 0;
        for (Warehouse warehouse : company.warehouses) {
            for (District district : warehouse.districts) {
                sum += district.nextOrder - 1;
            }
        }
        return sum;
    }

    private static String name(District district) {
        return "district " + district.warehouse.number + "/" + district.number;
    }

    private void equal(int condition, String what, long is, long expected) {
        if (is != expected) {
            findings.add("condition " + condition + ": " + what + " is " + is + ", not " + expected);
        }
    }

    private <T> void each(List<T> all, Consumer<T> action) {
        for (int first = 0; first < all.size(); first += STEP) {
            int from = first;
            step.accept(() -> {
                for (int i = from; i < Math.min(from + STEP, all.size()); i++) {
                    action.accept(all.get(i));
                }
            });
        }
    }

    /** Conditions 10 and 12, and the sums for 8 and 9. */
    private void customers(District district, Scale scale, Map<String, Long> paidAt) {
        equal(0, "customers of " + name(district), district.customers.size(), scale.customers());
        Map<Integer, Long> delivered = new HashMap<>();
        each(district.orders, order -> {
            for (OrderLine line = order.lines; line != null; line = line.next) {
                if (line.delivered != 0) {
                    delivered.merge(order.customer.number, (long) line.amount, Long::sum);
                }
            }
        });
        each(district.customers, customer -> {
            long paid = 0;
            for (History history = customer.history; history != null; history = history.older) {
                paid += history.amount;
                paidAt.merge(name(history.district), history.amount, Long::sum);
            }
            String who = "of customer " + customer.number + " of " + name(district);
            long received = delivered.getOrDefault(customer.number, 0L);
            equal(10, "balance " + who, customer.balance, received - paid);
            equal(12, "balance and payments " + who, customer.balance + customer.paid, received);
        });
    }

    /** Conditions 2 to 7. */
    private void orders(District district) {
        String where = " of " + name(district);
        int oldest = district.oldest == null ? district.nextOrder : district.oldest.order.number;
        NewOrder[] at = {district.oldest};
        int[] ends = new int[2];
        while (at[0] != null) {
            step.accept(() -> {
                for (int i = 0; i < STEP && at[0] != null; i++) {
                    ends[LAST] = at[0].order.number;
                    ends[WAITING]++;
                    at[0] = at[0].next;
                }
            });
        }
        int last = ends[LAST];
        int waiting = ends[WAITING];
        equal(2, "orders" + where, district.orders.size(), district.nextOrder - 1);
        if (waiting > 0) {
            equal(2, "last new order" + where, last, district.nextOrder - 1);
            equal(2, "end of the new orders" + where, district.newest.order.number, last);
            equal(3, "new orders" + where, waiting, last - oldest + 1);
        }
        long[] sums = new long[3];
        each(district.orders, order -> {
            String which = " of order " + order.number + where;
            equal(2, "number" + which, order.number, ++sums[NUMBER]);
            int count = 0;
            for (OrderLine line = order.lines; line != null; line = line.next) {
                count++;
                equal(7, "whether a line is delivered" + which, line.delivered == 0 ? 0 : 1,
                        order.carrier == 0 ? 0 : 1);
            }
            equal(6, "lines" + which, count, order.lineCount);
            equal(5, "whether it waits," + which, order.carrier == 0 ? 1 : 0, order.number >= oldest ? 1 : 0);
            sums[COUNTED] += order.lineCount;
            sums[LINES] += count;
        });
        equal(4, "lines" + where, sums[LINES], sums[COUNTED]);
    }
}
