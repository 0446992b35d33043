package dev.norn.bobc.model;

import dev.norn.bobc.workload.Request.Delivery;
import dev.norn.bobc.workload.Request.OrderStatus;
import dev.norn.bobc.workload.Request.Payment;
import dev.norn.bobc.workload.Request.StockLevel;
import dev.norn.bobc.workload.Request;
import java.util.HashSet;
import java.util.Set;

/**
 * The five transactions (clauses 2.4 to 2.8), written as one writes them for objects in memory. The caller says what a
 * transaction is.
 */
public final class Profiles {
    private static final int RECENT = 20;

    private Profiles() {}

    /** Thrown where an order names an item that does not exist; the caller undoes everything. */
    public static final class UnknownItem extends RuntimeException {
        UnknownItem(int number) {
            super("there is no item " + number, null, false, false);
        }
    }

    public static void run(Company company, Request request, StringBuilder screen) {
        switch (request) {
            case Request.NewOrder it -> newOrder(company, it, screen);
            case Payment it -> payment(company, it, screen);
            case OrderStatus it -> orderStatus(company, it, screen);
            case Delivery it -> delivery(company, it, screen);
            case StockLevel it -> stockLevel(company, it, screen);
        }
    }

    private static String cents(long amount) {
        return "%d.%02d".formatted(amount / 100, Math.abs(amount % 100));
    }

    private static void newOrder(Company company, Request.NewOrder input, StringBuilder screen) {
        Warehouse warehouse = company.warehouse(input.warehouse());
        District district = warehouse.district(input.district());
        Customer customer = district.customer(input.customer());
        Order order = new Order(district.takeOrderNumber(), customer, input.time());
        long sum = 0;
        for (Request.Line line : input.lines()) {
            Item item = company.item(line.item());
            if (item == null) {
                throw new UnknownItem(line.item());
            }
            Warehouse supplier = line.supplier() == input.warehouse() ? warehouse : company.warehouse(line.supplier());
            Stock stock = supplier.stock(line.item());
            stock.take(line.quantity(), supplier != warehouse);
            long amount = (long) item.price * line.quantity();
            sum += amount;
            boolean isBrand = item.data.contains("ORIGINAL") && stock.data.contains("ORIGINAL");
            order.add(stock, supplier, line.quantity(), amount, stock.district(input.district()));
            if (screen != null) {
                screen.append("%4d %6d %-24s %2d %3d %c %s %s%n".formatted(line.supplier(), line.item(), item.name,
                        line.quantity(), stock.quantity, isBrand ? 'B' : 'G', cents(item.price), cents(amount)));
            }
        }
        district.enter(order);
        customer.lastOrder = order;
        long total = sum * (10_000 - customer.discount) / 10_000 * (10_000 + warehouse.tax + district.tax) / 10_000;
        if (screen != null) {
            screen.append("New Order %d of %s, credit %s, %d lines, total %s%n"
                    .formatted(order.number, customer.last, customer.credit, order.lineCount, cents(total)));
        }
    }

    private static void payment(Company company, Payment input, StringBuilder screen) {
        Warehouse warehouse = company.warehouse(input.warehouse());
        warehouse.receive(input.amount());
        District district = warehouse.district(input.district());
        district.receive(input.amount());
        Customer customer = company.warehouse(input.customersWarehouse()).district(input.customersDistrict())
                .customer(input.customer(), input.lastName());
        customer.pay(input.amount(), district, input.time());
        if (screen != null) {
            warehouse.address.show(screen);
            district.address.show(screen);
            customer.address.show(screen);
            screen.append("Payment of %s by %s %s %s, balance %s%n%s%n".formatted(cents(input.amount()), customer.first,
                    customer.middle, customer.last, cents(customer.balance), customer.credit.equals("BC")
                            ? customer.data.substring(0, Math.min(200, customer.data.length())) : ""));
        }
    }

    private static void orderStatus(Company company, OrderStatus input, StringBuilder screen) {
        Customer customer = company.warehouse(input.warehouse()).district(input.district())
                .customer(input.customer(), input.lastName());
        Order order = customer.lastOrder;
        long sum = 0;
        for (OrderLine line = order.lines; line != null; line = line.next) {
            sum += line.amount;
            if (screen != null) {
                screen.append("%4d %6d %2d %s %d%n".formatted(line.supplier.number, line.stock.item.number,
                        line.quantity, cents(line.amount), line.delivered));
            }
        }
        if (screen != null) {
            screen.append("Order %d of %s %s %s, balance %s, carrier %d, %s%n".formatted(order.number, customer.first,
                    customer.middle, customer.last, cents(customer.balance), order.carrier, cents(sum)));
        }
    }

    private static void delivery(Company company, Delivery input, StringBuilder screen) {
        int skipped = 0;
        for (District district : company.warehouse(input.warehouse()).districts) {
            Order order = district.takeOldest();
            if (order == null) {
                skipped++;
            } else {
                order.customer.receive(order.deliver(input.carrier(), input.time()));
            }
        }
        if (screen != null) {
            screen.append("Delivery by carrier %d, %d districts skipped%n".formatted(input.carrier(), skipped));
        }
    }

    private static void stockLevel(Company company, StockLevel input, StringBuilder screen) {
        Warehouse warehouse = company.warehouse(input.warehouse());
        District district = warehouse.district(input.district());
        int end = district.nextOrder;
        Set<Integer> low = new HashSet<>();
        for (int number = Math.max(1, end - RECENT); number < end; number++) {
            for (OrderLine line = district.orders.get(number - 1).lines; line != null; line = line.next) {
                // What another warehouse supplied is counted with this one's stock (clause 2.8.2.2).
                Stock stock = line.supplier == warehouse ? line.stock : warehouse.stock(line.stock.item.number);
                if (stock.quantity < input.threshold()) {
                    low.add(stock.item.number);
                }
            }
        }
        if (screen != null) {
            screen.append("Stock level: %d items below %d%n".formatted(low.size(), input.threshold()));
        }
    }
}
