package dev.norn.bobc.model;

import dev.norn.bobc.workload.Draw;
import java.util.List;
import java.util.Map;

/** A part of a warehouse's area: its customers and their orders. */
final class District {
    final int number;
    final int tax;
    long year;
    int nextOrder = 1;
    final String name;
    final Address address;
    final Warehouse warehouse;
    final List<Customer> customers = Lists.list();
    /** By last name the first customer, by first name, of that name. */
    final Map<String, Customer> byName = Lists.map();
    final List<Order> orders = Lists.list();
    NewOrder oldest;
    NewOrder newest;

    District(Warehouse warehouse, int number, Draw draw) {
        this.warehouse = warehouse;
        this.number = number;
        tax = draw.number(0, 2000);
        name = draw.text(6, 10);
        address = new Address(draw);
    }

    Customer customer(int number) {
        return customers.get(number - 1);
    }

    /** The customer of this number, or, with a name, the middle one of that name by first names (clause 2.5.2.2). */
    Customer customer(int number, String lastName) {
        if (lastName == null) {
            return customer(number);
        }
        Customer first = byName.get(lastName);
        int count = 0;
        for (Customer at = first; at != null; at = at.nextOfName) {
            count++;
        }
        Customer middle = first;
        for (int i = 1; i < (count + 1) / 2; i++) {
            middle = middle.nextOfName;
        }
        return middle;
    }

    void add(Customer customer) {
        customers.add(customer);
        Customer first = byName.get(customer.last);
        if (first == null || customer.first.compareTo(first.first) < 0) {
            customer.nextOfName = first;
            byName.put(customer.last, customer);
            return;
        }
        while (first.nextOfName != null && first.nextOfName.first.compareTo(customer.first) <= 0) {
            first = first.nextOfName;
        }
        customer.nextOfName = first.nextOfName;
        first.nextOfName = customer;
    }

    synchronized int takeOrderNumber() {
        return nextOrder++;
    }

    synchronized void receive(long amount) {
        year += amount;
    }

    /** Keeps the order, which is to be delivered after those that are here. */
    void enter(Order order) {
        orders.add(order);
        NewOrder entry = new NewOrder(order);
        if (newest == null) {
            oldest = entry;
        } else {
            newest.next = entry;
        }
        newest = entry;
    }

    /** The oldest order that is to be delivered, which is taken out; null if there is none. */
    synchronized Order takeOldest() {
        NewOrder entry = oldest;
        if (entry == null) {
            return null;
        }
        oldest = entry.next;
        if (oldest == null) {
            newest = null;
        }
        Order order = entry.order;
        Lists.discard(entry);
        return order;
    }
}
