package dev.norn.bobc.model;

import dev.norn.bobc.workload.Draw;

/** Somebody who orders and pays. Amounts in cents, discount in hundredths of a percent. */
final class Customer {
    static final int DATA_MAX = 500;

    final int number;
    final int discount;
    final District district;
    final String first;
    final String middle;
    final String last;
    final String phone;
    final String credit;
    final Address address;
    final long since;
    final long creditMax;
    long balance;
    long paid;
    int payments;
    int deliveries;
    String data;
    Customer nextOfName;
    Order lastOrder;
    History history;

    Customer(District district, int number, Draw draw, long time) {
        this.district = district;
        this.number = number;
        discount = draw.number(0, 5000);
        first = draw.text(8, 16);
        middle = "OE";
        last = draw.lastNameOf(number);
        phone = draw.digits(16);
        credit = draw.oneIn(10) ? "BC" : "GC";
        address = new Address(draw);
        since = time;
        creditMax = 5_000_000;
        balance = -1000;
        paid = 1000;
        payments = 1;
        data = draw.text(300, 500);
    }

    /** Pays; the payment is noted in the data of a customer with bad credit (clause 2.5.2.2). */
    synchronized void pay(long amount, District at, long time) {
        balance -= amount;
        paid += amount;
        payments++;
        if (credit.equals("BC")) {
            String told = number + " " + district.number + " " + district.warehouse.number + " " + at.number + " "
                    + at.warehouse.number + " " + amount + "|" + data;
            data = told.substring(0, Math.min(told.length(), DATA_MAX));
        }
        history = new History(at, amount, time, at.warehouse.name + "    " + at.name, history);
    }

    synchronized void receive(long amount) {
        balance += amount;
        deliveries++;
    }
}
