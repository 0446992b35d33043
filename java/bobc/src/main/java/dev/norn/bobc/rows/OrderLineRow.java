package dev.norn.bobc.rows;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;

/** One item of an order. */
@Entity(name = "OrderLine")
public class OrderLineRow extends Row {
    @Column(updatable = false)
    public int item;
    @Column(updatable = false)
    public int supplier;
    /** 0 until it is. */
    public long delivered;
    @Column(updatable = false)
    public int quantity;
    @Column(updatable = false)
    public int amount;
    @Column(length = 24, updatable = false)
    public String info;

    @Override
    public void pass(RowStream stream) {
        item = stream.pass(item);
        supplier = stream.pass(supplier);
        delivered = stream.pass(delivered);
        quantity = stream.pass(quantity);
        amount = stream.pass(amount);
        info = stream.pass(info);
    }
}
