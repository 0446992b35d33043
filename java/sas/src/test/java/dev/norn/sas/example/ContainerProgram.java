package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import java.nio.file.Path;

/** Makes a container with an account that has a name. */
final class ContainerProgram {
    private ContainerProgram() {}

    public static void main(String[] arguments) {
        try (Store store = Store.open(Path.of(arguments[0]))) {
            Account account = Factory.newInstanceIn(Account.class, store.createContainer("other", 64 << 20), 5, "eve");
            store.setRoot("eve", account);
        }
    }
}
