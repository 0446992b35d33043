package dev.norn.sas.example;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;
import java.util.Random;

/**
 * A JVM whose threads fill an array with accounts and destroy them again, in a container that records it, until it is
 * killed. Each account is in one place of the array, and its number says how many were there before.
 */
public final class DestroysProgram {
    static final int PLACES = 40;
    private static final int PLACES_EACH_TIME = 5;

    private DestroysProgram() {}

    /** What the root has. */
    static final class Desk {
        final Account[] accounts;
        final int[] destroyed = new int[PLACES];

        Desk(Container container) {
            accounts = Factory.newArrayOfIn(Account.class, PLACES, container);
        }
    }

    public static void main(String[] arguments) {
        long seed = Long.parseLong(arguments[1]);
        try (Store store = Store.open(Path.of(arguments[0]))) {
            for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
                Random random = new Random(seed * 31 + i);
                new Thread(() -> {
                    for (;;) {
                        change(store, random);
                    }
                }).start();
            }
            System.out.println("running");
            Thread.currentThread().join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Destroys what is in some places, and fills the others; one transaction in four is undone. */
    private static void change(Store store, Random random) {
        try {
            Transaction.run(() -> {
                Desk desk = store.root("desk", Desk.class);
                for (int i = 0; i < PLACES_EACH_TIME; i++) {
                    changePlace(store, desk, random.nextInt(PLACES));
                }
                if (random.nextInt(4) == 0) {
                    throw new IllegalStateException("undone on purpose");
                }
            });
        } catch (IllegalStateException e) {
            // As it should be.
        }
    }

    private static void changePlace(Store store, Desk desk, int place) {
        if (desk.accounts[place] == null) {
            desk.accounts[place] = Factory.newInstanceIn(Account.class, store.container("accounts"), place, "Ann");
            return;
        }
        Factory.destroyInstance(desk.accounts[place], "place " + place);
        desk.accounts[place] = null;
        desk.destroyed[place]++;
    }
}
