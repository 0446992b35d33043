package dev.norn.bobc.model;

/** Balances that many clients raise at once. They are no part of TPC-C. */
public final class Accounts {
    private final Account[] accounts;

    /** Makes accounts with nothing on them. */
    public Accounts(int count) {
        accounts = new Account[count];
        for (int i = 0; i < count; i++) {
            accounts[i] = new Account();
        }
    }

    /** All of them, in an array of the caller's. */
    public Account[] all() {
        return accounts.clone();
    }

    /** One of them. */
    public static final class Account {
        private long balance;

        /** Reads the balance, and then stores one more. */
        public void increment() {
            balance++;
        }

        public long balance() {
            return balance;
        }
    }
}
