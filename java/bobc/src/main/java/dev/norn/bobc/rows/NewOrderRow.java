package dev.norn.bobc.rows;

import jakarta.persistence.Entity;

/** Says that the order with this key is to be delivered. */
@Entity(name = "NewOrder")
public class NewOrderRow extends Row {
    @Override
    public void pass(RowStream stream) {}
}
