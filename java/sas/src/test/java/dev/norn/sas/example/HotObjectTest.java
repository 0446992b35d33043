package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.transaction.FaultyLog.Fault;
import dev.norn.sas.store.transaction.FaultyLog;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Objects that many transactions want: each has them in turn, one sync serves them, and no caller gets what is not
 * durable.
 */
class HotObjectTest {
    private static final int SLOTS = 48;
    private static final Executor VIRTUAL = task -> Thread.ofVirtual().start(task);

    @TempDir
    Path directory;
    private Path at;
    private Store store;
    private Account ann;
    private Account bob;

    @BeforeEach
    void open() {
        at = directory.resolve("store");
        store = Stores.createWithAccounts(at, Store.Options.defaults());
        ann = store.root("ann", Account.class);
        bob = store.root("bob", Account.class);
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    private long add(Account account) {
        return Transaction.call(() -> {
            account.add(1);
            return account.balance();
        });
    }

    private void awaitRecords(long bytes) throws InterruptedException {
        while (store.attached().logBytesUsed() <= bytes) {
            Thread.sleep(1);
        }
    }

    /** Many at a time, each of which reads before it writes. */
    private void addAtOnce(int threads, int times, Executor executor) {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(CompletableFuture.runAsync(() -> {
                for (int time = 0; time < times; time++) {
                    add(ann);
                }
            }, executor));
        }
        all.forEach(Background::await);
        assertEquals((long) threads * times, ann.balance());
    }

    @Test
    void readingAndThenChangingConflictsForNobody() {
        addAtOnce(16, 400, Background.PLATFORM);
    }

    @Test
    void virtualThreadsByTheHundredTakeTurns() {
        addAtOnce(500, 10, VIRTUAL);
    }

    @Test
    void moreTransactionsThanSlotsWaitForEachOther() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch inside = new CountDownLatch(SLOTS);
        List<CompletableFuture<Long>> all = new ArrayList<>();
        for (int i = 0; i < 2 * SLOTS; i++) {
            all.add(Background.call(() -> Transaction.call(() -> {
                inside.countDown();
                awaitQuietly(go);
                return ann.balance();
            })));
        }
        assertTrue(inside.await(Background.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertEquals(SLOTS, store.attached().openTransactions());
        go.countDown();
        all.forEach(Background::await);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * The second changes what the first has changed while that is not synced. Its call, and that of a reader, returns
     * when it is synced.
     */
    @Test
    void aSyncIsWaitedForWithoutLocks() throws Exception {
        FaultyLog log = FaultyLog.install(store);
        int syncs = log.syncs();
        long used = store.attached().logBytesUsed();
        log.fault(Fault.SYNC_WAITS);
        List<CompletableFuture<Long>> all = new ArrayList<>(List.of(Background.call(() -> add(ann))));
        awaitRecords(used);
        for (int i = 0; i < 5; i++) {
            long before = store.attached().logBytesUsed();
            all.add(Background.call(() -> add(ann)));
            awaitRecords(before);
        }
        CompletableFuture<Long> alone = Background.call(ann::balance);
        CompletableFuture<Long> reader = Background.call(() -> Transaction.call(ann::balance));
        assertEquals(0, Background.await(Background.call(() -> Transaction.call(bob::balance))),
                "what is durable is returned at once");
        Thread.sleep(50);
        assertFalse(alone.isDone() || reader.isDone() || all.stream().anyMatch(CompletableFuture::isDone),
                "nobody is told what may be lost");
        Path stopped = Stores.withoutPool(at, directory.resolve("stopped"));
        log.fault(Fault.NONE);
        assertEquals(6, Background.await(alone));
        assertEquals(6, Background.await(reader));
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L, 6L), all.stream().map(Background::await).sorted().toList());
        assertTrue(log.syncs() - syncs <= 4, log.syncs() - syncs + " syncs for six transactions");
        store.close();
        try (Store left = Store.open(stopped)) {
            Stores.check(left);
        }
        store = Store.open(at);
        assertEquals(6, store.root("ann", Account.class).balance());
    }

    /**
     * The calls of transactions that have changed or read it further do not return either; when the store is opened
     * again, the log decides.
     */
    @Test
    void afterAFailedSyncNobodyIsToldOfWhatMayBeLost() throws Exception {
        add(bob);
        FaultyLog log = FaultyLog.install(store);
        long used = store.attached().logBytesUsed();
        log.fault(Fault.SYNC_WAITS);
        CompletableFuture<Long> first = Background.call(() -> add(ann));
        awaitRecords(used);
        CompletableFuture<Long> second = Background.call(() -> add(ann));
        CompletableFuture<Long> alone = Background.call(ann::balance);
        log.fault(Fault.WAITING_SYNC_FAILS);
        for (CompletableFuture<Long> each : List.of(first, second, alone)) {
            assertThrows(CompletionException.class, () -> Background.await(each));
        }
        assertEquals(1, bob.balance(), "what was durable is told");
        assertThrows(dev.norn.sas.exception.StorageWriteFailure.class, () -> Transaction.call(ann::balance));
        store.close();
        store = Store.open(at);
        assertEquals(0, store.root("ann", Account.class).balance());
        assertEquals(1, store.root("bob", Account.class).balance());
    }
}
