package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.transaction.FaultyLog;
import dev.norn.sas.store.transaction.FaultyLog.Fault;
import dev.norn.sas.store.transaction.SlotState;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who waits for a sync of the log. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SyncWaitTest {
    @TempDir
    Path directory;

    /**
     * One thread waits for the sync of another process, and a second one, which recovers and is alone for that, waits
     * after it in the queue. Then that process dies: only the second can give its latch back.
     */
    @Test
    void whoRecoversWaitsForNobodyOfTheQueue() throws Exception {
        Store store = Store.create(directory.resolve("store"), Stores.SMALL);
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        SlotState.OtherProcess living = new SlotState.OtherProcess(store, 40, 1000);
        living.syncs();
        CompletableFuture<Void> commit = Background.run(() -> ann.add(1));
        while (SlotState.unsynced() == 0) {
            Thread.sleep(1);
        }
        Thread.sleep(300);
        SlotState.OtherProcess dead = new SlotState.OtherProcess(store, 41, 1001);
        dead.hasAppended();
        dead.close();
        CompletableFuture<Void> recovery = Background.run(() -> SlotState.recover(store));
        Thread.sleep(300);
        living.close();
        recovery.orTimeout(15, TimeUnit.SECONDS).join();
        commit.orTimeout(15, TimeUnit.SECONDS).join();
        assertEquals(1, ann.balance());
        store.close();
    }

    private static CompletableFuture<Void> commitBesideADyingSync(Store store, FaultyLog log, Account ann, Fault then)
            throws Exception {
        SlotState.OtherProcess dying = new SlotState.OtherProcess(store, 40, 1000);
        dying.syncs();
        CompletableFuture<Void> commit = Background.run(() -> ann.add(1));
        while (SlotState.unsynced() == 0) {
            Thread.sleep(1);
        }
        log.fault(then);
        dying.close();
        return commit.orTimeout(60, TimeUnit.SECONDS);
    }

    /** Its sync may have failed, which is said to it only. */
    @Test
    void whatADeadProcessWasSyncingIsWrittenAgain() throws Exception {
        Store store = Store.create(directory.resolve("store"), Stores.SMALL);
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        FaultyLog log = FaultyLog.install(store);
        commitBesideADyingSync(store, log, ann, Fault.NONE).join();
        List<Long> done = log.trace();
        long record = done.getFirst();
        assertTrue(done.subList(1, done.indexOf(-1L)).contains(record), "written again before the sync: " + done);
        store.close();
    }

    @Test
    void whatADeadProcessWasSyncingAndCannotBeReadIsNotDurable() throws Exception {
        Store store = Store.create(directory.resolve("store"), Stores.SMALL);
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        FaultyLog log = FaultyLog.install(store);
        CompletableFuture<Void> commit = commitBesideADyingSync(store, log, ann, Fault.READS_ZEROS);
        Throwable thrown = assertThrows(CompletionException.class, commit::join).getCause();
        assertTrue(thrown instanceof StorageWriteFailure, thrown.toString());
        assertTrue(SlotState.unsynced() > 0, "it is not said to be durable");
        log.fault(Fault.NONE);
        store.close();
    }

    /** A thread finds that the store takes changes, and is stopped. Then another one's sync fails. */
    @Test
    void nobodySyncsBehindASyncThatFailed() throws Exception {
        Store store = Store.create(directory.resolve("store"), Stores.SMALL);
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        FaultyLog log = FaultyLog.install(store);
        log.fault(Fault.SYNC_FAILS);
        assertThrows(StorageWriteFailure.class, () -> Transaction.run(() -> ann.add(5)));
        log.fault(Fault.NONE);
        int syncs = log.syncs();
        try {
            SlotState.syncLate(store);
        } catch (java.lang.reflect.InvocationTargetException e) {
            assertTrue(e.getCause() instanceof StorageWriteFailure, e.getCause().toString());
        }
        assertEquals(syncs, log.syncs(), "a failed sync is not tried again");
        assertTrue(SlotState.unsynced() > 0, "what it was to make durable is not said to be so");
        store.close();
    }

    /** A call that finds that an object is gone returns when that is durable, whichever call it is. */
    @Test
    void nobodyIsToldThatAnObjectIsGoneBeforeThatIsDurable() throws Exception {
        try (Store store = Store.create(directory.resolve("store"), Stores.SMALL)) {
            Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
            store.setRoot("ann", ann);
            Map<String, Supplier<Object>> ways = Map.of(
                    "a read", () -> ann.balance(),
                    "a change", () -> {
                        ann.add(1);
                        return null;
                    },
                    "a transaction that ends well",
                    () -> Transaction.call(() -> assertThrows(ObjectDestroyed.class, ann::balance)),
                    "a root", () -> store.root("ann", Account.class),
                    "another one's end", () -> {
                        Factory.destroyInstance(ann);
                        return null;
                    },
                    "a root's change", () -> {
                        store.setRoot("eve", ann);
                        return null;
                    });
            FaultyLog log = FaultyLog.install(store);
            log.fault(Fault.SYNC_WAITS);
            CompletableFuture<Void> end = Background.run(() -> Factory.destroyInstance(ann));
            while (SlotState.unsynced() == 0) {
                Thread.sleep(1);
            }
            Map<String, CompletableFuture<Void>> told = new java.util.HashMap<>();
            ways.forEach((way, asking) -> told.put(way, Background.run(asking::get)));
            Thread.sleep(500);
            List<String> early = told.keySet().stream().filter(way -> told.get(way).isDone()).toList();
            log.fault(Fault.NONE);
            end.join();
            told.values().forEach(asked -> asked.handle((nothing, thrown) -> null).join());
            assertEquals(List.of(), early);
        }
    }
}
