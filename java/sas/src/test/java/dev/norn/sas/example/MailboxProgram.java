package dev.norn.sas.example;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;

/** What a child JVM runs: {@code STORE COUNT} takes {@code COUNT} letters from the mailbox and prints each. */
final class MailboxProgram {
    private MailboxProgram() {}

    public static void main(String[] arguments) {
        try (Store store = Store.open(Path.of(arguments[0]))) {
            Mailbox mailbox = store.root("mailbox", Mailbox.class);
            for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
                System.out.println(Transaction.call(() -> WaitTest.unchecked(mailbox::take)));
            }
        }
    }
}
