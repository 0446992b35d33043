package dev.norn.bobc.workload;

import java.util.List;

/**
 * What a terminal asks for: the input of a transaction (clauses 2.4 to 2.8). All numbers begin with 1; amounts are in
 * cents.
 */
public sealed interface Request {
    Kind kind();

    /** The five transactions, with keying time and mean think time in seconds (clause 5.2.5.7). */
    enum Kind {
        NEW_ORDER(18, 12), PAYMENT(3, 12), ORDER_STATUS(2, 10), DELIVERY(2, 5), STOCK_LEVEL(2, 5);

        public final double keying;
        public final double thinking;

        Kind(double keying, double thinking) {
            this.keying = keying;
            this.thinking = thinking;
        }
    }

    /** A line of a new order. */
    record Line(int item, int supplier, int quantity) {}

    /**
     * @param isInvalid whether the last line asks for an item that there is none of, so that everything is undone (one
     * in a hundred)
     */
    record NewOrder(int warehouse, int district, int customer, List<Line> lines, boolean isInvalid, long time)
            implements Request {
        @Override
        public Kind kind() {
            return Kind.NEW_ORDER;
        }
    }

    /** @param lastName of the customer; null if {@code customer} is given */
    record Payment(int warehouse, int district, int customersWarehouse, int customersDistrict, int customer,
            String lastName, long amount, long time) implements Request {
        @Override
        public Kind kind() {
            return Kind.PAYMENT;
        }
    }

    /** @param lastName of the customer; null if {@code customer} is given */
    record OrderStatus(int warehouse, int district, int customer, String lastName) implements Request {
        @Override
        public Kind kind() {
            return Kind.ORDER_STATUS;
        }
    }

    record Delivery(int warehouse, int carrier, long time) implements Request {
        @Override
        public Kind kind() {
            return Kind.DELIVERY;
        }
    }

    record StockLevel(int warehouse, int district, int threshold) implements Request {
        @Override
        public Kind kind() {
            return Kind.STOCK_LEVEL;
        }
    }
}
