package dev.norn.sas.example;

/** An account, as anybody would write one. */
public class Account {
    private final int number;
    private long balance;
    private String owner;
    private Account next;

    Account(int number, String owner) {
        this.number = number;
        this.owner = owner;
    }

    public int number() {
        return number;
    }

    public long balance() {
        return balance;
    }

    public void add(long amount) {
        balance += amount;
    }

    public String owner() {
        return owner;
    }

    public void rename(String name) {
        owner = name;
    }

    public Account next() {
        return next;
    }

    public void link(Account account) {
        next = account;
    }
}
