package dev.norn.bobc.model;

import dev.norn.bobc.workload.Draw;

/** What the company sells. */
final class Item {
    final int number;
    final int image;
    final int price;
    final String name;
    final String data;

    Item(int number, Draw draw) {
        this.number = number;
        image = draw.number(1, 10_000);
        price = draw.number(100, 10_000);
        name = draw.text(14, 24);
        data = draw.data();
    }
}
