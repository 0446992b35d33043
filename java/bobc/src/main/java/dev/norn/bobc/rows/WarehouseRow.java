package dev.norn.bobc.rows;

import jakarta.persistence.Column;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;

/** A warehouse. */
@Entity(name = "Warehouse")
public class WarehouseRow extends Row {
    @Column(updatable = false)
    public int tax;
    @Column(name = "paid")
    public long year;
    @Column(length = 10, updatable = false)
    public String name;
    @Embedded
    public AddressPart address = new AddressPart();

    @Override
    public void pass(RowStream stream) {
        tax = stream.pass(tax);
        year = stream.pass(year);
        name = stream.pass(name);
        address.pass(stream);
    }
}
