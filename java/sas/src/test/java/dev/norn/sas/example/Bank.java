package dev.norn.sas.example;

import dev.norn.sas.Factory;

/** Accounts in an array, and a journal of which only the last entries are kept. */
public class Bank {
    private final Account[] accounts;
    private Entry newest;
    private long transfers;

    /** A line of the journal. */
    static class Entry {
        private final String text;
        private final long number;
        private Entry older;

        Entry(String text, long number, Entry older) {
            this.text = text;
            this.number = number;
            this.older = older;
        }
    }

    Bank(int count) {
        accounts = null;
    }

    /** Fills a bank that is persistent. */
    static Bank create(dev.norn.sas.Container container, int count) {
        Bank bank = Factory.newInstanceIn(Bank.class, container, count);
        return bank.fill(count);
    }

    private Bank fill(int count) {
        AccountList list = null;
        for (int i = count - 1; i >= 0; i--) {
            list = Factory.newInstanceNear(AccountList.class, this,
                    Factory.newInstanceNear(Account.class, this, i, "owner of account " + i), list);
            list.account.add(1000);
        }
        first = list;
        return this;
    }

    private AccountList first;

    /** A list of accounts. */
    static class AccountList {
        final Account account;
        final AccountList next;

        AccountList(Account account, AccountList next) {
            this.account = account;
            this.next = next;
        }
    }

    private Account account(int index) {
        AccountList at = first;
        for (int i = 0; i < index; i++) {
            at = at.next;
        }
        return at.account;
    }

    /** Moves an amount, writes the journal, and destroys an entry that is too old. In a transaction. */
    void transfer(int from, int to, long amount) {
        transfers++;
        account(from).add(-amount);
        account(to).add(amount);
        account(to).rename("owner number " + to + " after transfer " + transfers);
        newest = Factory.newInstanceNear(Entry.class, this,
                "transfer of " + amount + " from " + from + " to " + to, transfers, newest);
        Entry at = newest;
        for (int i = 0; i < 5 && at != null; i++) {
            at = at.older;
        }
        if (at != null && at.older != null) {
            Factory.destroyInstance(at.older);
            at.older = null;
        }
    }

    long transfers() {
        return transfers;
    }

    /** Says what is wrong; null if nothing is. In a transaction. */
    String audit(int count) {
        long sum = 0;
        for (AccountList at = first; at != null; at = at.next) {
            sum += at.account.balance();
            if (!at.account.owner().startsWith("owner")) {
                return "account " + at.account.number() + " is owned by " + at.account.owner();
            }
        }
        if (sum != 1000L * count) {
            return "the balances are " + sum + " together, not " + 1000L * count;
        }
        long expected = transfers;
        for (Entry at = newest; at != null; at = at.older) {
            if (at.number != expected-- || !at.text.startsWith("transfer of ")) {
                return "journal entry " + at.number + " is in the place of " + (expected + 1) + ": " + at.text;
            }
        }
        return newest != null || transfers == 0 ? null : "the journal is empty after " + transfers + " transfers";
    }
}
