package dev.norn.bobc.rows;

import jakarta.persistence.Column;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;

/** A part of a warehouse's area. */
@Entity(name = "District")
public class DistrictRow extends Row {
    @Column(updatable = false)
    public int tax;
    @Column(name = "paid")
    public long year;
    public int nextOrder;
    @Column(length = 10, updatable = false)
    public String name;
    @Embedded
    public AddressPart address = new AddressPart();

    @Override
    public void pass(RowStream stream) {
        tax = stream.pass(tax);
        year = stream.pass(year);
        nextOrder = stream.pass(nextOrder);
        name = stream.pass(name);
        address.pass(stream);
    }
}
