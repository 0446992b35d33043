package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.ObjectDestroyed;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.util.SasList;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tutorial of {@code java/README.md}, step by step. */
class TutorialTest {
    /** A class like any other: nothing in it says that its instances may be persistent. */
    static class Customer {
        private final String name;
        private long credit;
        private List<String> orders;

        Customer(String name) {
            this.name = name;
        }

        void order(String article, long price) {
            if (price > credit) {
                throw new IllegalStateException(name + " has no credit for " + article);
            }
            credit -= price;
            orders.add(article);
        }
    }

    @Test
    void fromNothingToAPersistentObjectAndBack(@TempDir Path directory) {
        // A store is a directory. It has the container "main"; others are made as needed, with a limit each.
        try (Store store = Store.create(directory.resolve("shop"), Store.Options.defaults())) {
            Container shop = store.createContainer("shop", 16 << 20);

            // `new` makes a temporary object, as ever. A factory method makes a persistent one of the same class.
            Customer passer = new Customer("nobody");
            Customer ann = Factory.newInstanceIn(Customer.class, shop, "Ann");
            assertTrue(!Factory.isPersistent(passer) && Factory.isPersistent(ann));

            // Several changes, as one: durable together when run() returns.
            Transaction.run(() -> {
                ann.orders = Factory.newInstanceNear(SasList.class, ann);
                ann.credit = 100;
                ann.order("a book", 30);
            });

            // An exception undoes what was done.
            assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
                ann.order("a pen", 10);
                ann.order("a car", 10_000);
            }));
            assertEquals(70, ann.credit);

            // A name, to find it again.
            store.setRoot("ann", ann);
        }

        // Another run of the program, or another program.
        try (Store store = Store.open(directory.resolve("shop"))) {
            Customer ann = store.root("ann", Customer.class);
            assertEquals(70, ann.credit);
            assertEquals(List.of("a book"), ann.orders);

            // Persistent objects live until they are destroyed. What still refers to them throws.
            Factory.destroyInstance(ann);
            assertThrows(ObjectDestroyed.class, () -> System.out.println(store.root("ann", Customer.class).credit));
        }
    }
}
