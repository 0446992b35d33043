package dev.norn.bobc.model;

import dev.norn.bobc.workload.Draw;
import dev.norn.bobc.workload.Scale;
import java.util.function.Consumer;

/** Fills a company (clause 4.3.3), in steps that are transactions of their own. */
public final class Population {
    private static final int STEP = 100;

    private final Company company;
    private final Scale scale;
    private final Draw draw;
    private final Consumer<Runnable> step;
    private final long time = System.currentTimeMillis();

    /** @param step runs a part of the work */
    public Population(Company company, Scale scale, long seed, Consumer<Runnable> step) {
        this.company = company;
        this.scale = scale;
        this.draw = new Draw(seed, scale);
        this.step = step;
    }

    private interface Numbered {
        void make(int number);
    }

    private void each(int count, Numbered maker) {
        for (int first = 1; first <= count; first += STEP) {
            int from = first;
            int to = Math.min(count, first + STEP - 1);
            step.accept(() -> {
                for (int number = from; number <= to; number++) {
                    maker.make(number);
                }
            });
        }
    }

    public void run(int warehouses) {
        each(scale.items(), number -> company.items.add(new Item(number, draw)));
        for (int number = 1; number <= warehouses; number++) {
            int its = number;
            step.accept(() -> company.warehouses.add(new Warehouse(its, draw)));
            fill(company.warehouse(number));
        }
    }

    private void fill(Warehouse warehouse) {
        each(scale.items(), number -> warehouse.stocks.add(new Stock(company.item(number), draw)));
        for (int number = 1; number <= Scale.DISTRICTS; number++) {
            int its = number;
            step.accept(() -> warehouse.districts.add(new District(warehouse, its, draw)));
            fill(warehouse, warehouse.district(number));
        }
    }

    private void fill(Warehouse warehouse, District district) {
        each(scale.customers(), number -> {
            Customer customer = new Customer(district, number, draw, time);
            customer.history = new History(district, 1000, time, draw.text(12, 24), null);
            district.add(customer);
            district.receive(1000);
            warehouse.receive(1000);
        });
        int[] customers = draw.permutation(scale.customers());
        each(scale.customers(), number -> order(warehouse, district, district.customer(customers[number - 1]), number));
    }

    private void order(Warehouse warehouse, District district, Customer customer, int number) {
        Order order = new Order(district.takeOrderNumber(), customer, time);
        boolean isDelivered = number <= scale.customers() - scale.newOrders();
        int lines = draw.number(5, 15);
        for (int line = 1; line <= lines; line++) {
            order.add(warehouse.stock(draw.number(1, scale.items())), warehouse, 5,
                    isDelivered ? 0 : draw.amount(1, 999_999), draw.text(24, 24));
        }
        if (isDelivered) {
            order.deliver(draw.number(1, 10), time);
            district.orders.add(order);
        } else {
            district.enter(order);
        }
        customer.lastOrder = order;
    }
}
