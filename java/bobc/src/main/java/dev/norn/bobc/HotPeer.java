package dev.norn.bobc;

import java.util.List;

/** Accounts that clients raise, each time by one and in a transaction of its own. */
interface HotPeer extends AutoCloseable {
    /** For one thread. */
    Client client();

    /** What all accounts have together. Nothing else may run. */
    long sum();

    /** Syncs so far; -1 if they cannot be counted. */
    long syncs();

    /** What the peer's own checker finds wrong. Nothing else may run. */
    List<String> findings();

    @Override
    void close();

    /** Raises accounts for one thread. */
    interface Client extends AutoCloseable {
        /**
         * Raises an account; it is durable when this returns.
         *
         * @return how many times the transaction was run
         * @throws dev.norn.sas.exception.TransactionConflict if it was given up: then the account was not raised
         */
        int increment(int account);

        @Override
        default void close() {}
    }
}
