package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.transaction.FaultyLog;
import dev.norn.sas.store.transaction.SlotState;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What child JVMs run: {@code STORE SEED THREADS} transfers for ever and says how many are committed;
 * {@code STORE step N} does one transfer step by step, and dies at step N; {@code STORE fault FAULT} does one transfer
 * on a log that fails so; {@code STORE "die in ann"} dies inside a transaction that has locked the root ann;
 * {@code STORE "keep ann"} keeps her locked, and says so. {@code STORE "die allocating"} dies in the middle of an
 * allocation on her page, and says where. {@code STORE "two commits"} dies while one thread syncs and another one waits
 * for that.
 */
final class BankProgram {
    static final int ACCOUNTS = 12;

    private BankProgram() {}

    public static void main(String[] arguments) throws Exception {
        Store store = Store.open(Path.of(arguments[0]));
        if (arguments[1].equals("die in ann")) {
            Transaction.begin();
            store.root("ann", Account.class).add(1);
            Runtime.getRuntime().halt(9);
        }
        if (arguments[1].equals("die allocating")) {
            Transaction.begin();
            SlotState.dieAllocating(store.root("ann", Account.class));
        }
        if (arguments[1].equals("keep ann")) {
            Transaction.begin();
            store.root("ann", Account.class).add(1);
            System.out.println("locked");
            Thread.sleep(Long.MAX_VALUE);
        }
        if (arguments[1].equals("two commits")) {
            dieInTwoCommits(store);
        }
        Bank bank = store.root("bank", Bank.class);
        if (arguments[1].equals("fault")) {
            FaultyLog.install(store).fault(FaultyLog.Fault.valueOf(arguments[2]));
            Transaction.run(() -> bank.transfer(1, 2, 10));
            return;
        }
        if (arguments[1].equals("step")) {
            dieAt(store, bank, Integer.parseInt(arguments[2]));
            return;
        }
        AtomicLong committed = new AtomicLong();
        for (int thread = 0; thread < Integer.parseInt(arguments[2]); thread++) {
            Random random = new Random(Long.parseLong(arguments[1]) * 31 + thread);
            Thread.ofPlatform().start(() -> {
                Bank own = store.root("bank", Bank.class);
                for (;;) {
                    transfer(own, random);
                    synchronized (committed) {
                        System.out.println(committed.incrementAndGet());
                    }
                }
            });
        }
    }

    /** The one that waits has the slot that comes first. */
    private static void dieInTwoCommits(Store store) throws Exception {
        FaultyLog log = FaultyLog.install(store);
        log.fault(FaultyLog.Fault.DIES_BESIDE_A_COMMIT);
        Transaction.begin();
        store.root("ann", Account.class).add(1);
        Thread.ofPlatform().start(() -> Transaction.run(() -> store.root("bob", Account.class).add(1)));
        log.awaitSync();
        Transaction.commit();
    }

    static void transfer(Bank bank, Random random) {
        int from = random.nextInt(ACCOUNTS);
        int to = random.nextInt(ACCOUNTS);
        int amount = random.nextInt(50);
        Transaction.run(() -> bank.transfer(from, to, amount));
    }

    private static void dieAt(Store store, Bank bank, int last) {
        Runnable[] steps = {
            Transaction::begin,
            () -> bank.transfer(1, 2, 10),
            () -> bank.transfer(2, 3, 20),
            () -> Factory.newInstanceNear(Account.class, bank, 99, "nobody"),
            () -> Factory.newLongArrayNear(5000, bank),
            () -> store.createContainer("other", 1 << 20),
            () -> store.setRoot("other", bank),
            () -> Factory.newInstanceIn(Account.class, store.container("other"), 7, "somebody in another container"),
        };
        for (int i = 0; i < steps.length; i++) {
            steps[i].run();
            if (i == last) {
                Runtime.getRuntime().halt(9);
            }
        }
        Transaction.commit();
        Runtime.getRuntime().halt(9);
    }
}
