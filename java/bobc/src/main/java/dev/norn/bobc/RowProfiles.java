package dev.norn.bobc;

import dev.norn.bobc.rows.CustomerRow;
import dev.norn.bobc.rows.DistrictRow;
import dev.norn.bobc.rows.HistoryRow;
import dev.norn.bobc.rows.ItemRow;
import dev.norn.bobc.rows.Keys;
import dev.norn.bobc.rows.NewOrderRow;
import dev.norn.bobc.rows.OrderLineRow;
import dev.norn.bobc.rows.OrderRow;
import dev.norn.bobc.rows.StockRow;
import dev.norn.bobc.rows.WarehouseRow;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.util.List;

/** The five transactions (clauses 2.4 to 2.8) for rows that are found by keys. */
final class RowProfiles {
    private static final int RECENT = 20;
    private static final int DATA_MAX = 500;

    private final RowTransaction rows;

    RowProfiles(RowTransaction rows) {
        this.rows = rows;
    }

    /** @return false if it has to be rolled back */
    boolean run(Request request) {
        switch (request) {
            case Request.NewOrder it -> {
                return newOrder(it);
            }
            case Request.Payment it -> payment(it);
            case Request.OrderStatus it -> orderStatus(it);
            case Request.Delivery it -> delivery(it);
            case Request.StockLevel it -> stockLevel(it);
        }
        return true;
    }

    private boolean newOrder(Request.NewOrder in) {
        int w = in.warehouse();
        rows.find(WarehouseRow.class, w);
        DistrictRow district = rows.findToChange(DistrictRow.class, Keys.district(w, in.district()));
        int number = district.nextOrder++;
        rows.change(district);
        CustomerRow customer = rows.findToChange(CustomerRow.class, Keys.customer(district.id, in.customer()));
        OrderRow order = new OrderRow();
        order.id = Keys.order(district.id, number);
        order.customer = customer.id;
        order.time = in.time();
        order.lineCount = in.lines().size();
        order.isLocal = in.lines().stream().allMatch(line -> line.supplier() == w) ? 1 : 0;
        rows.add(order);
        NewOrderRow entry = new NewOrderRow();
        entry.id = order.id;
        rows.add(entry);
        customer.lastOrder = order.id;
        rows.change(customer);
        int count = 0;
        for (Request.Line line : in.lines()) {
            if (!add(in, line, Keys.line(order.id, ++count))) {
                return false;
            }
        }
        return true;
    }

    private boolean add(Request.NewOrder in, Request.Line ordered, long id) {
        ItemRow item = rows.find(ItemRow.class, ordered.item());
        if (item == null) {
            return false;
        }
        StockRow stock = rows.findToChange(StockRow.class, Keys.stock(ordered.supplier(), ordered.item()));
        stock.take(ordered.quantity(), ordered.supplier() != in.warehouse());
        rows.change(stock);
        OrderLineRow line = new OrderLineRow();
        line.id = id;
        line.item = ordered.item();
        line.supplier = ordered.supplier();
        line.quantity = ordered.quantity();
        line.amount = item.price * ordered.quantity();
        line.info = stock.district(in.district());
        rows.add(line);
        return true;
    }

    /** The key of the customer who is meant: the middle one of that name by first names (clause 2.5.2.2). */
    private long customer(int warehouse, int district, int number, String lastName) {
        long at = Keys.district(warehouse, district);
        if (lastName == null) {
            return Keys.customer(at, number);
        }
        List<Long> those = rows.customers(at, lastName);
        return those.get((those.size() + 1) / 2 - 1);
    }

    private void payment(Request.Payment in) {
        WarehouseRow warehouse = rows.findToChange(WarehouseRow.class, in.warehouse());
        warehouse.year += in.amount();
        rows.change(warehouse);
        DistrictRow district = rows.findToChange(DistrictRow.class, Keys.district(in.warehouse(), in.district()));
        district.year += in.amount();
        rows.change(district);
        CustomerRow customer = rows.findToChange(CustomerRow.class,
                customer(in.customersWarehouse(), in.customersDistrict(), in.customer(), in.lastName()));
        customer.balance -= in.amount();
        customer.paid += in.amount();
        customer.payments++;
        if (customer.credit.equals("BC")) {
            String told = Keys.customerNumber(customer.id) + " " + in.customersDistrict() + " "
                    + in.customersWarehouse() + " " + in.district() + " " + in.warehouse() + " "
                    + in.amount() + "|" + customer.data;
            customer.data = told.substring(0, Math.min(told.length(), DATA_MAX));
        }
        rows.change(customer);
        HistoryRow history = new HistoryRow();
        history.id = Keys.history(customer.id, customer.payments);
        history.customer = customer.id;
        history.district = district.id;
        history.amount = in.amount();
        history.time = in.time();
        history.data = warehouse.name + "    " + district.name;
        rows.add(history);
    }

    private void orderStatus(Request.OrderStatus in) {
        CustomerRow customer =
                rows.find(CustomerRow.class, customer(in.warehouse(), in.district(), in.customer(), in.lastName()));
        OrderRow order = rows.find(OrderRow.class, customer.lastOrder);
        rows.lines(Keys.line(order.id, 1), Keys.line(order.id, Keys.LINES_MAX));
    }

    private void delivery(Request.Delivery in) {
        for (int number = 1; number <= Scale.DISTRICTS; number++) {
            // Deliveries of one district take turns.
            long district = rows.findToChange(DistrictRow.class, Keys.district(in.warehouse(), number)).id;
            NewOrderRow oldest = rows.firstNewOrder(Keys.order(district, 1), Keys.order(district, Integer.MAX_VALUE));
            if (oldest == null) {
                continue;
            }
            rows.remove(oldest);
            OrderRow order = rows.findToChange(OrderRow.class, oldest.id);
            order.carrier = in.carrier();
            rows.change(order);
            long sum = 0;
            for (OrderLineRow line : rows.lines(Keys.line(order.id, 1), Keys.line(order.id, Keys.LINES_MAX))) {
                line.delivered = in.time();
                rows.change(line);
                sum += line.amount;
            }
            CustomerRow customer = rows.findToChange(CustomerRow.class, order.customer);
            customer.balance += sum;
            customer.deliveries++;
            rows.change(customer);
        }
    }

    private void stockLevel(Request.StockLevel in) {
        DistrictRow district = rows.find(DistrictRow.class, Keys.district(in.warehouse(), in.district()));
        int first = Math.max(1, district.nextOrder - RECENT);
        rows.lowStocks(in.warehouse(), Keys.line(Keys.order(district.id, first), 0),
                Keys.line(Keys.order(district.id, district.nextOrder), 0), in.threshold());
    }
}
