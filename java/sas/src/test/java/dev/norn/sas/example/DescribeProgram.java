package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * What a debugger looks at: {@code STORE}. A thread changes Bob, and another one comes to {@link #here} with Ann and
 * Bob.
 */
final class DescribeProgram {
    private DescribeProgram() {}

    public static void main(String[] arguments) throws Exception {
        Store store = Store.open(Path.of(arguments[0]));
        Account ann = store.root("ann", Account.class);
        Account bob = store.root("bob", Account.class);
        CountDownLatch changed = new CountDownLatch(1);
        Thread.ofPlatform().start(() -> {
            Transaction.begin();
            bob.link(ann);
            changed.countDown();
            here(null, null);
            Transaction.abort();
        });
        changed.await();
        Transaction.begin();
        ann.add(5);
        here(ann, bob);
        Runtime.getRuntime().halt(0);
    }

    /** Where the debugger stops the thread that brings accounts, and the other one waits. */
    static void here(Account one, Account two) {
        if (one == null) {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        Factory.isPersistent(one);
        stop(one, two);
    }

    static void stop(Account one, Account two) {
        Factory.isPersistent(one);
    }
}
