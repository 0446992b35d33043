package dev.norn.sas.example;

import dev.norn.sas.Store;
import dev.norn.sas.exception.StorageReadFailure;
import java.nio.file.Path;

/** Tries to open a member's store that no member's process has opened, again and again: {@code DIRECTORY}. */
public final class VainProgram {
    private VainProgram() {}

    public static void main(String[] arguments) {
        System.out.println("tries");
        for (;;) {
            try (Store store = Store.open(Path.of(arguments[0]))) {
                // A member had just opened it.
                continue;
            } catch (StorageReadFailure e) {
                // It is a member's.
            }
        }
    }
}
