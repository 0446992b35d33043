package dev.norn.bobc.rows;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Table;

/** What a customer ordered. */
@Entity(name = "CustomerOrder")
@Table(name = "orders")
public class OrderRow extends Row {
    @Column(updatable = false)
    public long customer;
    @Column(name = "entered_at", updatable = false)
    public long time;
    /** 0 until it is delivered. */
    public int carrier;
    @Column(updatable = false)
    public int lineCount;
    /** 1 if its own warehouse supplies everything. */
    @Column(updatable = false)
    public int isLocal;

    @Override
    public void pass(RowStream stream) {
        customer = stream.pass(customer);
        time = stream.pass(time);
        carrier = stream.pass(carrier);
        lineCount = stream.pass(lineCount);
        isLocal = stream.pass(isLocal);
    }
}
