package dev.norn.replica.example;

import dev.norn.sas.util.SasMap;
import java.util.Map;
import java.util.TreeMap;

/** How often each client has counted, and all of them together. */
public class Tallies {
    private final Map<String, Long> counts = new SasMap<>();
    private long total;

    /** Returns the total. */
    public long count(String client) {
        counts.merge(client, 1L, Long::sum);
        return ++total;
    }

    public long total() {
        return total;
    }

    public String describe() {
        return total + " " + new TreeMap<>(counts);
    }
}
