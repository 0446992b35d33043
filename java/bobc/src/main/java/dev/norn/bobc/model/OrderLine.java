package dev.norn.bobc.model;

/** One item of an order. */
final class OrderLine {
    final Stock stock;
    final Warehouse supplier;
    final short quantity;
    final short number;
    final int amount;
    final String info;
    long delivered;
    final OrderLine next;

    OrderLine(Stock stock, Warehouse supplier, int quantity, long amount, String info, int number, OrderLine next) {
        this.stock = stock;
        this.supplier = supplier;
        this.quantity = (short) quantity;
        this.amount = Math.toIntExact(amount);
        this.info = info;
        this.number = (short) number;
        this.next = next;
    }
}
