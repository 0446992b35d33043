package dev.norn.bobc.model;

import java.util.List;

/** All there is: items and warehouses. */
public final class Company {
    final List<Item> items = Lists.list();
    final List<Warehouse> warehouses = Lists.list();

    public Company() {}

    Warehouse warehouse(int number) {
        return warehouses.get(number - 1);
    }

    /** Null if there is none of this number. */
    Item item(int number) {
        return number <= items.size() ? items.get(number - 1) : null;
    }
}
