package dev.norn.sas.store.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.log.Unsynced;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.util.SasLongArray;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whoever reads an object learns up to where the log has to be durable, whether its transaction changed a few objects
 * or more than there are words.
 */
class UnsyncedTest {
    @TempDir
    Path directory;

    private static void make(Store store, int objects) {
        List<SasLongArray> made = new ArrayList<>();
        Transaction.run(() -> {
            for (int i = 0; i < objects; i++) {
                made.add(Factory.newInstanceIn(SasLongArray.class, store.container(Store.MAIN), 1));
            }
        });
        long end = Memory.getVolatile(Format.LOG_TAIL);
        for (SasLongArray array : made) {
            assertEquals(end, Unsynced.of(Format.offsetOf(Generations.reference(array))), objects + " objects");
        }
    }

    @Test
    void eachObjectOfATransactionIsMarked() {
        try (Store store = Store.create(directory.resolve("store"), Store.Options.defaults())) {
            make(store, 10);
            make(store, Unsynced.WORDS + 100);
            make(store, 10);
        }
    }
}
