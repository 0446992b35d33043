package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.norn.sas.Factory;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.runtime.InPlace;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.store.transaction.FaultyLog;
import dev.norn.sas.store.transaction.SlotState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Reads outside transactions. */
class CommittedReadTest {
    @TempDir
    Path directory;

    /**
     * Meanwhile the object is destroyed, and another one is made in its place, which no transaction has changed either.
     */
    @Test
    void aReadIsOfTheObjectThatItBeganWith() {
        try (Store store = Store.create(directory.resolve("store"), Stores.SMALL)) {
            Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
            Account bob = Factory.newInstanceNear(Account.class, ann, 2, "Bob");
            assertThrows(ObjectDestroyed.class, () -> InPlace.committed((SasObject) (Object) ann, at -> {
                replace(ann, bob, "@" + Long.toHexString(at) + " ");
                return at;
            }));
        }
    }

    /** What it has read is being synced, and every slot is taken, also that of him who syncs when he is done. */
    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aReadNeedsNoSlotForWhatOthersSync() throws Exception {
        Store store = Store.create(directory.resolve("store"), Stores.SMALL);
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        FaultyLog log = FaultyLog.install(store);
        log.fault(FaultyLog.Fault.SYNC_WAITS);
        CompletableFuture<Void> writer = Background.run(() -> ann.add(5));
        while (SlotState.unsynced() == 0) {
            Thread.sleep(1);
        }
        CountDownLatch isOver = new CountDownLatch(1);
        List<CompletableFuture<Void>> holders = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            holders.add(Background.run(() -> {
                Transaction.begin();
                await(isOver);
                Transaction.abort();
            }));
        }
        while (store.attached().openTransactions() < 48) {
            Thread.sleep(1);
        }
        CompletableFuture<Long> reader = new CompletableFuture<>();
        Background.run(() -> reader.complete(ann.balance()));
        Thread.sleep(100);
        log.fault(FaultyLog.Fault.NONE);
        try {
            assertEquals(5L, reader.get(60, TimeUnit.SECONDS));
        } finally {
            isOver.countDown();
        }
        writer.join();
        holders.forEach(CompletableFuture::join);
        store.close();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void replace(Account ann, Account bob, String place) {
        Factory.destroyInstance(ann);
        Account next;
        do {
            next = Factory.newInstanceNear(Account.class, bob, 3, "Carl");
        } while (!Factory.describe(next).contains(place));
    }
}
