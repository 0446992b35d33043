package dev.norn.bobc.rows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * TPC-C's consistency conditions (clause 3.3.2) for rows, in one pass over each table; except 11, which holds before
 * the first transaction only.
 */
public final class RowConsistency {
    /** Gives every row of a table, in the order of keys. */
    public interface Tables {
        <R extends Row> void each(Class<R> type, Consumer<R> consumer);
    }

    /** What is known of a district. */
    private static final class Area {
        private long year;
        private long paid;
        private int last;
        private long lineCounts;
        private long lines;
        private int lastNew;
        private int firstNew;
        private int waiting;
    }

    private final Tables tables;
    private final List<String> findings = new ArrayList<>();
    private final Map<Long, Area> areas = new TreeMap<>();
    private final Map<Long, Long> paidBy = new TreeMap<>();
    private final Map<Long, Long> deliveredTo = new TreeMap<>();
    private final Map<Long, OrderRow> orders = new java.util.HashMap<>();
    private final Map<Long, Integer> linesOf = new java.util.HashMap<>();

    private RowConsistency(Tables tables) {
        this.tables = tables;
    }

    /** What is wrong. Keeps all orders in memory. */
    public static List<String> check(Tables tables) {
        RowConsistency check = new RowConsistency(tables);
        check.read();
        check.districts();
        check.orders();
        check.customers();
        return check.findings;
    }

    private void equal(int condition, String what, long is, long expected) {
        if (is != expected) {
            findings.add("condition " + condition + ": " + what + " is " + is + ", not " + expected);
        }
    }

    private Area area(long district) {
        return areas.computeIfAbsent(district, key -> new Area());
    }

    private void read() {
        tables.each(HistoryRow.class, row -> {
            area(row.district).paid += row.amount;
            paidBy.merge(row.customer, row.amount, Long::sum);
        });
        tables.each(OrderRow.class, row -> {
            orders.put(row.id, row);
            Area area = area(Keys.districtOfOrder(row.id));
            area.last = Math.max(area.last, Keys.orderNumber(row.id));
            area.lineCounts += row.lineCount;
        });
        tables.each(NewOrderRow.class, row -> {
            Area area = area(Keys.districtOfOrder(row.id));
            int number = Keys.orderNumber(row.id);
            area.firstNew = area.waiting == 0 ? number : Math.min(area.firstNew, number);
            area.lastNew = Math.max(area.lastNew, number);
            area.waiting++;
        });
        tables.each(OrderLineRow.class, this::line);
    }

    private void line(OrderLineRow row) {
        long id = Keys.orderOf(row.id);
        linesOf.merge(id, 1, Integer::sum);
        area(Keys.districtOfOrder(id)).lines++;
        OrderRow order = orders.get(id);
        if (order == null) {
            findings.add("condition 6: there is no order of line " + row.id);
            return;
        }
        equal(7, "whether line " + row.id + " is delivered", row.delivered == 0 ? 0 : 1, order.carrier == 0 ? 0 : 1);
        if (row.delivered != 0) {
            deliveredTo.merge(order.customer, (long) row.amount, Long::sum);
        }
    }

    /** Conditions 1 to 4, 8 and 9. */
    private void districts() {
        Map<Integer, Long> years = new TreeMap<>();
        Map<Integer, Long> paid = new TreeMap<>();
        tables.each(DistrictRow.class, row -> {
            Area area = area(row.id);
            String where = " of district " + row.id;
            years.merge(Keys.warehouseOf(row.id), row.year, Long::sum);
            paid.merge(Keys.warehouseOf(row.id), area.paid, Long::sum);
            equal(9, "payments" + where, row.year, area.paid);
            equal(2, "last order" + where, area.last, row.nextOrder - 1);
            if (area.waiting > 0) {
                equal(2, "last new order" + where, area.lastNew, row.nextOrder - 1);
                equal(3, "new orders" + where, area.waiting, area.lastNew - area.firstNew + 1);
            }
            equal(4, "lines" + where, area.lines, area.lineCounts);
        });
        tables.each(WarehouseRow.class, row -> {
            equal(1, "year of warehouse " + row.id, row.year, years.getOrDefault((int) row.id, 0L));
            equal(8, "payments at warehouse " + row.id, row.year, paid.getOrDefault((int) row.id, 0L));
        });
    }

    /** Conditions 5 and 6; 5 leans on 3. */
    private void orders() {
        for (OrderRow order : orders.values()) {
            Area area = area(Keys.districtOfOrder(order.id));
            boolean isWaiting = area.waiting > 0 && Keys.orderNumber(order.id) >= area.firstNew;
            equal(5, "whether order " + order.id + " waits", order.carrier == 0 ? 1 : 0, isWaiting ? 1 : 0);
            equal(6, "lines of order " + order.id, linesOf.getOrDefault(order.id, 0), order.lineCount);
        }
    }

    /** Conditions 10 and 12. */
    private void customers() {
        tables.each(CustomerRow.class, row -> {
            long delivered = deliveredTo.getOrDefault(row.id, 0L);
            equal(10, "balance of customer " + row.id, row.balance, delivered - paidBy.getOrDefault(row.id, 0L));
            equal(12, "balance and payments of customer " + row.id, row.balance + row.paid, delivered);
        });
    }
}
