package dev.norn.sas.example;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;

/**
 * What {@link LogRingTest} runs in other JVMs: {@code STORE verify VALUES} checks the pages; {@code STORE fill} changes
 * both of two for ever, and says what it committed.
 */
final class LogRingProgram {
    private LogRingProgram() {}

    public static void main(String[] arguments) {
        Store store = Store.open(Path.of(arguments[0]));
        if (arguments[1].equals("verify")) {
            String[] values = arguments[2].split(" ");
            for (int i = 0; i < values.length; i++) {
                LogRingTest.Page page = store.root("page " + i, LogRingTest.Page.class);
                long value = Transaction.call(page::value);
                if (value != Long.parseLong(values[i])) {
                    throw new AssertionError("page " + i + " has " + value + " instead of " + values[i]);
                }
            }
            Stores.check(store);
            store.close();
            return;
        }
        LogRingTest.Page first = store.root("page 0", LogRingTest.Page.class);
        LogRingTest.Page second = store.root("page 1", LogRingTest.Page.class);
        for (long value = Transaction.call(first::value) + 1;; value++) {
            long its = value;
            Transaction.run(() -> {
                first.fill(its);
                second.fill(its);
            });
            System.out.println(value);
        }
    }
}
