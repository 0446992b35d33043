package dev.norn.bobc.model;

import dev.norn.bobc.workload.Draw;

/** How much of an item a warehouse has. */
final class Stock {
    final Item item;
    int quantity;
    int year;
    int orders;
    int remoteOrders;
    final String data;
    final String district1;
    final String district2;
    final String district3;
    final String district4;
    final String district5;
    final String district6;
    final String district7;
    final String district8;
    final String district9;
    final String district10;

    Stock(Item item, Draw draw) {
        this.item = item;
        quantity = draw.number(10, 100);
        data = draw.data();
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

    String district(int number) {
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
    synchronized void take(int count, boolean isRemote) {
        int left = quantity - count;
        quantity = left >= 10 ? left : left + 91;
        year += count;
        orders++;
        if (isRemote) {
            remoteOrders++;
        }
    }
}
