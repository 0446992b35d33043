package dev.norn.bobc.rows;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;

/** A payment of a customer, in a district. */
@Entity(name = "History")
public class HistoryRow extends Row {
    public long customer;
    public long district;
    public long amount;
    @Column(name = "paid_at")
    public long time;
    @Column(length = 24)
    public String data;

    @Override
    public void pass(RowStream stream) {
        customer = stream.pass(customer);
        district = stream.pass(district);
        amount = stream.pass(amount);
        time = stream.pass(time);
        data = stream.pass(data);
    }
}
