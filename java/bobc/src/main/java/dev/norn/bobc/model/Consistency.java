package dev.norn.bobc.model;

import dev.norn.bobc.Scale;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** TPC-C's consistency conditions (clause 3.3.2), but for 11, which holds before the first transaction only. */
public final class Consistency {
    private final List<String> findings = new ArrayList<>();

    private Consistency() {}

    /** What is wrong. */
    public static List<String> check(Company company, Scale scale) {
        Consistency check = new Consistency();
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

    /** Conditions 10 and 12, and the sums for 8 and 9. */
    private void customers(District district, Scale scale, Map<String, Long> paidAt) {
        equal(0, "customers of " + name(district), district.customers.size(), scale.customers());
        Map<Integer, Long> delivered = new HashMap<>();
        for (Order order : district.orders) {
            for (OrderLine line = order.lines; line != null; line = line.next) {
                if (line.delivered != 0) {
                    delivered.merge(order.customer.number, (long) line.amount, Long::sum);
                }
            }
        }
        for (Customer customer : district.customers) {
            long paid = 0;
            for (History history = customer.history; history != null; history = history.older) {
                paid += history.amount;
                paidAt.merge(name(history.district), history.amount, Long::sum);
            }
            String who = "of customer " + customer.number + " of " + name(district);
            long received = delivered.getOrDefault(customer.number, 0L);
            equal(10, "balance " + who, customer.balance, received - paid);
            equal(12, "balance and payments " + who, customer.balance + customer.paid, received);
        }
    }

    /** Conditions 2 to 7. */
    private void orders(District district) {
        String where = " of " + name(district);
        int oldest = district.oldest == null ? district.nextOrder : district.oldest.order.number;
        int last = 0;
        int waiting = 0;
        for (NewOrder at = district.oldest; at != null; at = at.next) {
            last = at.order.number;
            waiting++;
        }
        equal(2, "orders" + where, district.orders.size(), district.nextOrder - 1);
        if (waiting > 0) {
            equal(2, "last new order" + where, last, district.nextOrder - 1);
            equal(2, "end of the new orders" + where, district.newest.order.number, last);
            equal(3, "new orders" + where, waiting, last - oldest + 1);
        }
        long counted = 0;
        long lines = 0;
        int number = 0;
        for (Order order : district.orders) {
            String which = " of order " + order.number + where;
            equal(2, "number" + which, order.number, ++number);
            int count = 0;
            for (OrderLine line = order.lines; line != null; line = line.next) {
                count++;
                equal(7, "whether a line is delivered" + which, line.delivered == 0 ? 0 : 1, order.carrier == 0 ? 0 : 1);
            }
            equal(6, "lines" + which, count, order.lineCount);
            equal(5, "whether it waits," + which, order.carrier == 0 ? 1 : 0, order.number >= oldest ? 1 : 0);
            counted += order.lineCount;
            lines += count;
        }
        equal(4, "lines" + where, lines, counted);
    }
}
