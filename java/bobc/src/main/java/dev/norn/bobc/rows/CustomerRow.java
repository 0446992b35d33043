package dev.norn.bobc.rows;

import jakarta.persistence.Column;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.Index;
import jakarta.persistence.Table;

/** Somebody who orders and pays. Amounts in cents, discount in hundredths of a percent. */
@Entity(name = "Customer")
@Table(indexes = @Index(name = "customer_name", columnList = "district, surname, forename"))
public class CustomerRow extends Row {
    @Column(updatable = false)
    public long district;
    @Column(updatable = false)
    public int discount;
    @Column(name = "forename", length = 16, updatable = false)
    public String first;
    @Column(length = 2, updatable = false)
    public String middle;
    @Column(name = "surname", length = 16, updatable = false)
    public String last;
    @Column(length = 16, updatable = false)
    public String phone;
    @Column(length = 2, updatable = false)
    public String credit;
    @Embedded
    public AddressPart address = new AddressPart();
    @Column(updatable = false)
    public long since;
    @Column(updatable = false)
    public long creditMax;
    public long balance;
    public long paid;
    public int payments;
    public int deliveries;
    @Column(length = 500)
    public String data;
    /** Key of the order. */
    public long lastOrder;

    @Override
    public void pass(RowStream stream) {
        district = stream.pass(district);
        discount = stream.pass(discount);
        first = stream.pass(first);
        middle = stream.pass(middle);
        last = stream.pass(last);
        phone = stream.pass(phone);
        credit = stream.pass(credit);
        address.pass(stream);
        since = stream.pass(since);
        creditMax = stream.pass(creditMax);
        balance = stream.pass(balance);
        paid = stream.pass(paid);
        payments = stream.pass(payments);
        deliveries = stream.pass(deliveries);
        data = stream.pass(data);
        lastOrder = stream.pass(lastOrder);
    }
}
