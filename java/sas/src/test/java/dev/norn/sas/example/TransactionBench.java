package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * What small transactions cost, in nanoseconds of the fastest of many rounds, which other work on the machine disturbs
 * least, in a store below the directory that is given: compare two versions on one machine, in turn.
 */
final class TransactionBench {
    private static final int ROUNDS = 200;
    private static final int CREATED = 100;
    static volatile long sink;

    private TransactionBench() {}

    public static void main(String[] arguments) throws Exception {
        Path at = Files.createTempDirectory(Path.of(arguments[0]), "bench");
        try (Store store = Store.create(at, Store.Options.defaults().withMainBytes(64 << 20))) {
            Account account = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
            measure("write", 500, () -> Transaction.run(() -> account.add(1)));
            measure("read", 5_000, () -> sink += Transaction.call(account::balance));
            measure("undo", 5_000, () -> {
                Transaction.begin();
                account.add(1);
                Transaction.abort();
            });
            measure("create", 10, () -> Transaction.run(() -> {
                for (int i = 0; i < CREATED; i++) {
                    Factory.destroyInstance(Factory.newInstanceNear(Account.class, account, i, "x"));
                }
            }));
            measure("outside", 10_000, () -> sink += account.balance());
        } finally {
            try (var files = Files.list(at)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(at);
        }
    }

    private static void measure(String what, int repeats, Runnable action) {
        double[] times = new double[ROUNDS];
        for (int round = -ROUNDS / 2; round < ROUNDS; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < repeats; i++) {
                action.run();
            }
            times[Math.max(0, round)] = (System.nanoTime() - start) / (double) repeats;
        }
        System.out.printf("%-8s %,.0f ns%n", what, Arrays.stream(times).min().getAsDouble());
    }
}
