package dev.norn.bobc;

import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.util.List;

/** Something that keeps the company's data and runs its transactions. */
interface Peer extends AutoCloseable {
    /** Fills it; deterministic for a seed. */
    void populate(Scale scale, int warehouses, long seed);

    /** For one thread. */
    Client client();

    /** Checks TPC-C's consistency conditions; what is wrong, or nothing. Nothing else may run. */
    List<String> inconsistencies();

    /** Orders that are kept. Nothing else may run. */
    long orders();

    /** Counts of its own since it was opened. */
    Counts counts();

    @Override
    void close();

    /** @param syncs and the others: -1 where they cannot be counted */
    record Counts(long syncs, long loggedBytes, long checkpoints) {
        static final Counts UNKNOWN = new Counts(-1, -1, -1);
    }

    /** Runs transactions for one thread. */
    interface Client extends AutoCloseable {
        /**
         * Runs it, again where the peer asks to; when it returns, it is committed.
         *
         * @param screen takes the text of the terminal's screen; null for none
         * @return false if it was rolled back because its input asked for that
         */
        boolean run(Request request, StringBuilder screen);

        /** How many attempts ended in a conflict. */
        long conflicts();

        @Override
        default void close() {}
    }
}
