package dev.norn.bobc.rows;

import dev.norn.bobc.workload.Draw;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;

/** How much of an item a warehouse has. */
@Entity(name = "Stock")
public class StockRow extends Row {
    public int quantity;
    @Column(name = "sold")
    public int year;
    public int orders;
    public int remoteOrders;
    @Column(length = 50, updatable = false)
    public String data;
    @Column(length = 24, updatable = false)
    public String district1;
    @Column(length = 24, updatable = false)
    public String district2;
    @Column(length = 24, updatable = false)
    public String district3;
    @Column(length = 24, updatable = false)
    public String district4;
    @Column(length = 24, updatable = false)
    public String district5;
    @Column(length = 24, updatable = false)
    public String district6;
    @Column(length = 24, updatable = false)
    public String district7;
    @Column(length = 24, updatable = false)
    public String district8;
    @Column(length = 24, updatable = false)
    public String district9;
    @Column(length = 24, updatable = false)
    public String district10;

    /** Draws what districts write on their lines. */
    public void drawDistricts(Draw draw) {
        district1 = draw.text(24, 24);
        district2 = draw.text(24, 24);
        district3 = draw.text(24, 24);
        district4 = draw.text(24, 24);
        district5 = draw.text(24, 24);
        district6 = draw.text(24, 24);
        district7 = draw.text(24, 24);
        district8 = draw.text(24, 24);
        district9 = draw.text(24, 24);
        district10 = draw.text(24, 24);
    }

    public String district(int number) {
        return switch (number) {
            case 1 -> district1;
            case 2 -> district2;
            case 3 -> district3;
            case 4 -> district4;
            case 5 -> district5;
            case 6 -> district6;
            case 7 -> district7;
            case 8 -> district8;
            case 9 -> district9;
            default -> district10;
        };
    }

    /** Takes goods out, and fills up by 91 when fewer than ten would be left (clause 2.4.2.2). */
    public void take(int count, boolean isRemote) {
        int left = quantity - count;
        quantity = left >= 10 ? left : left + 91;
        year += count;
        orders++;
        if (isRemote) {
            remoteOrders++;
        }
    }

    @Override
    public void pass(RowStream stream) {
        quantity = stream.pass(quantity);
        year = stream.pass(year);
        orders = stream.pass(orders);
        remoteOrders = stream.pass(remoteOrders);
        data = stream.pass(data);
        district1 = stream.pass(district1);
        district2 = stream.pass(district2);
        district3 = stream.pass(district3);
        district4 = stream.pass(district4);
        district5 = stream.pass(district5);
        district6 = stream.pass(district6);
        district7 = stream.pass(district7);
        district8 = stream.pass(district8);
        district9 = stream.pass(district9);
        district10 = stream.pass(district10);
    }
}
