package dev.norn.bobc.model;

import dev.norn.bobc.workload.Draw;

/** Where somebody is. */
final class Address {
    final String street1;
    final String street2;
    final String city;
    final String state;
    final String zip;

    Address(Draw draw) {
        street1 = draw.text(10, 20);
        street2 = draw.text(10, 20);
        city = draw.text(10, 20);
        state = draw.text(2, 2);
        zip = draw.digits(4) + "11111";
    }

    void show(StringBuilder screen) {
        screen.append(street1).append('\n').append(street2).append('\n').append(city).append(' ').append(state)
                .append(' ').append(zip, 0, 5).append('-')
                .append(zip, 5, 9).append('\n');
    }
}
