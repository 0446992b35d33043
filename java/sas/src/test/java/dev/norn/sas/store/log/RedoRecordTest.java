package dev.norn.sas.store.log;

import static dev.norn.sas.store.memory.Format.LOG_TAIL;
import static dev.norn.sas.store.memory.Format.UNSYNCED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.FaultyLog;
import dev.norn.sas.store.transaction.StoreTransaction;
import dev.norn.sas.util.SasList;
import dev.norn.sas.util.SasLongArray;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The buffer of records stays while records need it, and is given back when they no longer do; one beyond the bound is
 * not kept at all.
 */
class RedoRecordTest {
    @TempDir
    Path directory;

    /** That of the open transaction. */
    private static RedoRecord record() throws ReflectiveOperationException {
        Field field = StoreTransaction.class.getDeclaredField("record");
        field.setAccessible(true);
        return (RedoRecord) field.get(Session.get().transaction());
    }

    private static int commit(Store store, int bytes) throws ReflectiveOperationException {
        Transaction.begin();
        RedoRecord record = record();
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
            int large = commit(store, 3 << 18);
            assertTrue(large > 3 << 18, "it is kept, " + large);
            assertEquals(large, commit(store, 3 << 18), "and used again");
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
            int large = commit(store, 3 << 18);
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

    @Test
    void aBufferBeyondTheBoundIsNotKeptByACommitThatFails() throws Exception {
        try (Store store = Store.create(directory.resolve("store"), Store.Options.defaults())) {
            FaultyLog log = FaultyLog.install(store);
            Transaction.begin();
            RedoRecord record = record();
            Factory.newInstanceIn(SasLongArray.class, store.container(Store.MAIN), RedoRecord.KEPT_BYTES_MAX / 4);
            log.fault(FaultyLog.Fault.WRITE_FAILS_HALFWAY);
            assertThrows(StorageWriteFailure.class, Transaction::commit);
            log.fault(FaultyLog.Fault.NONE);
            assertTrue(record.capacity() < RedoRecord.KEPT_BYTES_MAX, "it is not kept, " + record.capacity());
        }
    }

    @Test
    void valuesAreNoObjects() throws Exception {
        try (Store store = Store.create(directory.resolve("store"), Store.Options.defaults())) {
            SasList<String> list = Transaction.call(() -> {
                SasList<String> made = Factory.newInstanceIn(SasList.class, store.container(Store.MAIN));
                store.setRoot("list", made);
                made.add("first");
                return made;
            });
            Transaction.begin();
            RedoRecord record = record();
            for (int i = 0; i < 100; i++) {
                list.set(0, "a text that is stored as a value, number " + i);
            }
            Transaction.commit();
            assertTrue(!record.isEmpty());
            long marked = LongStream.range(0, Unsynced.WORDS)
                    .filter(i -> Memory.getVolatile(UNSYNCED + i * 8) == Memory.getVolatile(LOG_TAIL)).count();
            assertTrue(marked > 0 && marked < 10, "objects of the record: " + marked);
        }
    }
}
