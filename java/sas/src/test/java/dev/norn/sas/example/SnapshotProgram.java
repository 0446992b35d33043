package dev.norn.sas.example;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;

/** Begins a read-only transaction that does not end: to be killed. */
final class SnapshotProgram {
    private SnapshotProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        Store store = Store.open(Path.of(arguments[0]));
        Transaction.read(() -> {
            System.out.println(store.root("ann", Account.class).owner());
            Thread.sleep(600_000);
            return null;
        });
    }
}
