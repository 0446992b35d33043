package dev.norn.bobc.model;

import dev.norn.bobc.workload.Request;
import java.util.ArrayList;
import java.util.List;

/**
 * What a transaction is going to change, for a store that needs to know it in advance: objects that exist before it.
 * Those that it makes are reached through them. This is the knowledge that explicit persistence asks of its users.
 */
public final class Changes {
    private Changes() {}

    /** Called before the transaction, with the same exclusion. */
    public static List<Object> of(Company company, Request request) {
        List<Object> changed = new ArrayList<>();
        switch (request) {
            case Request.NewOrder it -> newOrder(company, it, changed);
            case Request.Payment it -> {
                Warehouse warehouse = company.warehouse(it.warehouse());
                changed.add(warehouse);
                changed.add(warehouse.district(it.district()));
                changed.add(company.warehouse(it.customersWarehouse()).district(it.customersDistrict())
                        .customer(it.customer(), it.lastName()));
            }
            case Request.Delivery it ->
                    company.warehouse(it.warehouse()).districts.forEach(district -> delivery(district, changed));
            case Request.OrderStatus it -> {}
            case Request.StockLevel it -> {}
        }
        return changed;
    }

    private static void newOrder(Company company, Request.NewOrder it, List<Object> changed) {
        District district = company.warehouse(it.warehouse()).district(it.district());
        changed.add(district);
        if (district.orders instanceof PartedList<Order> orders) {
            changed.addAll(orders.changedByAdding());
        } else {
            changed.add(district.orders);
        }
        if (district.newest != null) {
            changed.add(district.newest);
        }
        changed.add(district.customer(it.customer()));
        it.lines().forEach(line -> changed.add(company.warehouse(line.supplier()).stock(line.item())));
    }

    private static void delivery(District district, List<Object> changed) {
        if (district.oldest == null) {
            return;
        }
        Order order = district.oldest.order;
        changed.add(district);
        changed.add(order);
        for (OrderLine line = order.lines; line != null; line = line.next) {
            changed.add(line);
        }
        changed.add(order.customer);
    }
}
