package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.transaction.Cuts;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * What child JVMs run that die at the {@code N}th place of {@link Cuts}: {@code STORE create N} creates a store;
 * {@code STORE recover N} opens it, and with that recovers what the last has left; {@code STORE whole N} undoes a
 * transaction that has used the directory, and {@code STORE nested N} a part of one. {@code STORE whole N beside} has
 * another open transaction, which began before.
 */
final class UndoProgram {
    /** What a run is undone with. */
    private static final class Planned extends RuntimeException {}

    private UndoProgram() {}

    public static void main(String[] arguments) throws Exception {
        Path at = Path.of(arguments[0]);
        int nth = Integer.parseInt(arguments[2]);
        if (arguments[1].equals("create")) {
            Cuts.arm(nth);
            Store.create(at, UndoTest.OPTIONS).close();
            return;
        }
        if (arguments[1].equals("recover")) {
            Cuts.arm(nth);
            Store.open(at);
            Runtime.getRuntime().halt(0);
        }
        Store store = Store.open(at);
        if (arguments.length > 3) {
            beginBeside(store);
        }
        if (arguments[1].equals("whole")) {
            Transaction.begin();
            useDirectory(store);
            Cuts.arm(nth);
            Transaction.abort();
        } else {
            Transaction.begin();
            store.root("ann", Account.class).add(1);
            try {
                Transaction.run(() -> {
                    useDirectory(store);
                    Cuts.arm(nth);
                    throw new Planned();
                });
            } catch (Planned e) {
                Cuts.arm(0);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    /** A transaction of another thread that has locked something, and allocated something, in a container. */
    private static void beginBeside(Store store) throws InterruptedException {
        CountDownLatch isOpen = new CountDownLatch(1);
        Thread.ofPlatform().daemon().start(() -> {
            // Before it begins, so that it does not lock the directory.
            Account bob = store.root("bob", Account.class);
            Transaction.begin();
            bob.add(1);
            Factory.newInstanceNear(Account.class, bob, 3, "beside");
            isOpen.countDown();
            try {
                Thread.sleep(Long.MAX_VALUE);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        isOpen.await();
    }

    private static void useDirectory(Store store) {
        Account ann = store.root("ann", Account.class);
        store.setRoot("carl", Factory.newInstanceNear(Account.class, ann, 4, "carl"));
        store.createContainer("other", 1 << 20);
        store.setRoot("dora", Factory.newInstanceIn(Account.class, store.container("other"), 5, "dora"));
        Factory.newLongArrayNear(5000, ann);
    }
}
