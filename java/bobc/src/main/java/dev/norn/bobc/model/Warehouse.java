package dev.norn.bobc.model;

import dev.norn.bobc.workload.Draw;
import java.util.List;

/** A warehouse with ten districts, and a stock of each item. */
final class Warehouse {
    final int number;
    final int tax;
    long year;
    final String name;
    final Address address;
    final List<District> districts = Lists.list();
    final List<Stock> stocks = Lists.list();

    Warehouse(int number, Draw draw) {
        this.number = number;
        tax = draw.number(0, 2000);
        name = draw.text(6, 10);
        address = new Address(draw);
    }

    District district(int number) {
        return districts.get(number - 1);
    }

    Stock stock(int item) {
        return stocks.get(item - 1);
    }

    synchronized void receive(long amount) {
        year += amount;
    }
}
