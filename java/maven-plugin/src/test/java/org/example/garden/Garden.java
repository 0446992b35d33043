package org.example.garden;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.util.SasMap;
import java.nio.file.Path;
import java.util.Map;

/**
 * A program that knows nothing of agents: {@code STORE} grows a plant by a leaf at each run, and says how many leaves
 * it has.
 */
public final class Garden {
    private Map<String, Plant> plants;

    /** A plant with leaves. */
    static class Plant {
        private int leaves;

        synchronized int grow() {
            return ++leaves;
        }
    }

    Garden() {}

    public static void main(String[] arguments) {
        Path directory = Path.of(arguments[0]);
        if (directory.toFile().exists()) {
            try (Store store = Store.open(directory)) {
                Garden garden = store.root("garden", Garden.class);
                System.out.println(Transaction.call(() -> garden.plants.get("fern").grow()) + " leaves");
            }
            return;
        }
        try (Store store = Store.create(directory, Store.Options.defaults())) {
            Garden garden = Factory.newPermInstance(Garden.class);
            Transaction.run(() -> {
                garden.plants = Factory.newInstanceNear(SasMap.class, garden);
                garden.plants.put("fern", Factory.newInstanceNear(Plant.class, garden));
            });
            store.setRoot("garden", garden);
            System.out.println("planted");
        }
    }
}
