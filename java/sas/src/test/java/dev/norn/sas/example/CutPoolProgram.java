package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.StorageReadFailure;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/**
 * Cuts the containers off its pool while it uses them, and says what it gets: in a transaction, for reading and for
 * writing.
 */
final class CutPoolProgram {
    private static final long CONTAINERS = 16L << 30;

    private CutPoolProgram() {}

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        Store store = Store.create(directory, Stores.SMALL);
        Account account = Factory.newInstanceIn(Account.class, store.container("main"), 1, "x");
        try (RandomAccessFile pool = new RandomAccessFile(directory.resolve("pool").toFile(), "rw")) {
            pool.setLength(CONTAINERS);
        }
        Transaction.begin();
        System.out.println(what(account::balance));
        System.out.println(what(() -> account.add(1)));
        Runtime.getRuntime().halt(0);
    }

    private static String what(Runnable action) {
        try {
            action.run();
            return null;
        } catch (StorageReadFailure e) {
            return "StorageReadFailure";
        } catch (Throwable e) {
            return e.toString();
        }
    }
}
