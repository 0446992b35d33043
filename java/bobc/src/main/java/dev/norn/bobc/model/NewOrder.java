package dev.norn.bobc.model;

/** An order that is to be delivered. */
final class NewOrder {
    final Order order;
    NewOrder next;

    NewOrder(Order order) {
        this.order = order;
    }
}
