package dev.norn.bobc.model;

/** A payment of a customer, in a district. */
final class History {
    final District district;
    final long amount;
    final long time;
    final String data;
    final History older;

    History(District district, long amount, long time, String data, History older) {
        this.district = district;
        this.amount = amount;
        this.time = time;
        this.data = data;
        this.older = older;
    }
}
