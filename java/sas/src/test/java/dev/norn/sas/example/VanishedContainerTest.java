package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.transaction.SlotState;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who waits for an object of a container whose making is undone ends his transaction like any other. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VanishedContainerTest {
    @TempDir
    Path directory;

    @Test
    void whoWaitedForAnObjectOfItGivesHisLocksBack() throws Exception {
        Path at = directory.resolve("store");
        Store store = Store.create(at, Stores.SMALL);
        Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        store.setRoot("ann", ann);
        Transaction.begin();
        Container gone = store.createContainer("gone", 1 << 20);
        Account bob = Factory.newInstanceIn(Account.class, gone, 2, "Bob");
        CompletableFuture<Void> other = Background.run(() -> Transaction.run(() -> {
            ann.add(1);
            bob.balance();
        }));
        while (SlotState.waiting(store) == 0) {
            Thread.sleep(1);
        }
        Transaction.abort();
        assertThrows(CompletionException.class, () -> other.orTimeout(30, TimeUnit.SECONDS).join());
        for (int i = 0; i < 2000 && store.attached().openTransactions() > 0; i++) {
            Thread.sleep(1);
        }
        assertEquals(0, store.attached().openTransactions(), "the slot is given back");
        ann.add(1);
        assertEquals(1, ann.balance(), "its locks are free");
        store.close();
        Store.open(at).close();
    }
}
