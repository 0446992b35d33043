package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;

/** Makes the first invoice of a store in a transaction that does not end: to be killed. */
final class InvoiceProgram {
    private InvoiceProgram() {}

    public static void main(String[] arguments) throws InterruptedException {
        Store store = Store.open(Path.of(arguments[0]));
        Transaction.begin();
        Factory.newInstanceIn(Invoice.class, store.container(Store.MAIN), 1L);
        System.out.println("made");
        Thread.sleep(600_000);
    }
}
