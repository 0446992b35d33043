package dev.norn.sas.example;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;

/** Looks at the badges of a store. */
final class BadgeProgram {
    private BadgeProgram() {}

    public static void main(String[] arguments) {
        try (Store store = Store.open(Path.of(arguments[0]))) {
            Badge.Desk desk = store.root("desk", Badge.Desk.class);
            System.out.println(Transaction.call(desk::verify));
        }
    }
}
