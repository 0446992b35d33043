package dev.norn.bobc.rows;

import jakarta.persistence.Column;
import jakarta.persistence.Embeddable;

/** Where somebody is: a part of a row. */
@Embeddable
public class AddressPart {
    @Column(length = 20, updatable = false)
    public String street1;
    @Column(length = 20, updatable = false)
    public String street2;
    @Column(length = 20, updatable = false)
    public String city;
    @Column(length = 2, updatable = false)
    public String state;
    @Column(length = 9, updatable = false)
    public String zip;

    void pass(RowStream stream) {
        street1 = stream.pass(street1);
        street2 = stream.pass(street2);
        city = stream.pass(city);
        state = stream.pass(state);
        zip = stream.pass(zip);
    }
}
