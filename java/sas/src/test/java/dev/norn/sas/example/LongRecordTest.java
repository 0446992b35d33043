package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.transaction.FaultyLog;
import dev.norn.sas.store.transaction.FaultyLog.Fault;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A record that is longer than the ring. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LongRecordTest {
    @TempDir
    Path directory;

    /** A transaction that makes the ring longer is not overtaken for ever by those that fill it. */
    @Test
    void itFindsItsPlaceWhileOthersCommit() throws Exception {
        Store store = Store.create(directory.resolve("store"), Stores.SMALL);
        FaultyLog.install(store).fault(Fault.SYNC_TAKES_LONG);
        AtomicBoolean isOver = new AtomicBoolean();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Account its = Factory.newInstanceIn(Account.class, store.container("main"), i, "somebody");
            all.add(Background.run(() -> {
                while (!isOver.get()) {
                    its.add(1);
                }
            }));
        }
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 3, "Ann");
        try {
            Background.inTime(() -> Transaction.run(() -> Factory.newLongArrayNear(100_000, ann)));
        } finally {
            isOver.set(true);
        }
        all.forEach(CompletableFuture::join);
        assertEquals(0, store.attached().openTransactions());
        store.close();
    }
}
