package dev.norn.sas.example;

import dev.norn.sas.util.SasList;
import dev.norn.sas.util.SasLongArray;
import dev.norn.sas.util.SasMap;
import dev.norn.sas.util.SasSortedMap;

/** What {@link NestedRuns} changes: one of everything that a transaction may take back a part of. */
class Nest {
    static final int LARGE = 6000;
    static final int SMALL = 20;

    /** Transactions that were committed. */
    long transactions;
    final SasMap<Integer, Leaf> leaves = new SasMap<>();
    final SasList<String> list = new SasList<>();
    final SasSortedMap<String, Integer> sorted = new SasSortedMap<>();
    /** Of many blocks, and small enough to be kept as a whole. */
    final SasLongArray large = new SasLongArray(LARGE);
    final SasLongArray small = new SasLongArray(SMALL);
    int[] numbers = new int[SMALL];
    String[] texts = new String[SMALL];

    static class Leaf {
        final int id;
        int value;
        double share;
        String text;
        Leaf next;
        /** A chain of leaves that are in no map. */
        Object own;
        int[] numbers;

        Leaf(int id, String text) {
            this.id = id;
            this.text = text;
        }
    }
}
