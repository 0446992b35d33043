package dev.norn.replica.example;

import dev.norn.sas.util.SasList;
import java.util.List;

/** Accounts by their numbers, from 0. */
public class Accounts {
    private final List<Account> all = new SasList<>();

    /** One account. */
    static class Account {
        private long balance;

        void add(long amount) {
            balance += amount;
        }
    }

    /** Adds so many accounts. */
    public void open(int count) {
        for (int i = 0; i < count; i++) {
            all.add(new Account());
        }
    }

    public int size() {
        return all.size();
    }

    public void add(int account, long amount) {
        all.get(account).add(amount);
    }

    /** The sum of all balances. */
    public long sum() {
        return all.stream().mapToLong(account -> account.balance).sum();
    }
}
