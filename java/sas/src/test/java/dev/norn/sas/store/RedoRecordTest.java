package dev.norn.sas.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.util.SasLongArray;
import java.lang.reflect.Field;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The buffer of records stays while records need it, and is given back when they no longer do; one beyond the bound is
 * not kept at all.
 */
class RedoRecordTest {
    @TempDir
    Path directory;

    private static int commit(Store store, int bytes) throws ReflectiveOperationException {
        Transaction.begin();
        Field field = Work.class.getDeclaredField("record");
        field.setAccessible(true);
        RedoRecord record = (RedoRecord) field.get(Session.get().work());
        if (bytes > 0) {
            Factory.newInstanceIn(SasLongArray.class, store.container(Store.MAIN), bytes / Long.BYTES);
        }
        Transaction.commit();
        return record.capacity();
    }

    @Test
    void theBufferIsKeptAsLongAsRecordsNeedIt() throws Exception {
        try (Store store = Store.create(directory.resolve("store"), Store.Options.defaults())) {
            commit(store, 0);
            int large = commit(store, 3 << 20);
            assertTrue(large > 3 << 20, "it is kept, " + large);
            assertEquals(large, commit(store, 3 << 20), "and used again");
            int rounds = 0;
            while (commit(store, 16) == large) {
                assertTrue(++rounds < 40, "small records do not keep a large buffer");
            }
            assertTrue(rounds > 2, "one small record between large ones does not give it back, but " + rounds + " did");
        }
    }

    @Test
    void aTransactionThatChangesNothingGivesItBack() throws Exception {
        try (Store store = Store.create(directory.resolve("store"), Store.Options.defaults())) {
            int large = commit(store, 3 << 20);
            int rounds = 0;
            while (commit(store, 0) == large) {
                assertTrue(++rounds < 40, "it counts as one that needs nothing");
            }
        }
    }

    @Test
    void aBufferBeyondTheBoundIsNotKept() throws Exception {
        try (Store store = Store.create(directory.resolve("store"), Store.Options.defaults())) {
            assertTrue(commit(store, RedoRecord.KEPT_BYTES_MAX + (1 << 20)) < RedoRecord.KEPT_BYTES_MAX);
        }
    }
}
