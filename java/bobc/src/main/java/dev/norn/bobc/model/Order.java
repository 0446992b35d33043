package dev.norn.bobc.model;

/** What a customer ordered; its lines are linked, the first is the last that was entered. */
final class Order {
    final int number;
    final Customer customer;
    final long time;
    int carrier;
    int lineCount;
    boolean isLocal = true;
    OrderLine lines;

    Order(int number, Customer customer, long time) {
        this.number = number;
        this.customer = customer;
        this.time = time;
    }

    void add(Stock stock, Warehouse supplier, int quantity, long amount, String info) {
        lineCount++;
        isLocal &= supplier == customer.district.warehouse;
        lines = new OrderLine(stock, supplier, quantity, amount, info, lineCount, lines);
    }

    /** Marks it as delivered; what its lines cost together. */
    long deliver(int by, long at) {
        carrier = by;
        long sum = 0;
        for (OrderLine line = lines; line != null; line = line.next) {
            line.delivered = at;
            sum += line.amount;
        }
        return sum;
    }
}
