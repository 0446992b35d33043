package dev.norn.sas.store.transaction;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Store;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.memory.TransactionSlot;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long the end of a store waits: for what the store does itself as long as that takes, for others not. */
class CloseWaitTest {
    private static final long LOCK_MILLIS = 50;

    @TempDir
    Path directory;

    @Test
    void closingWaitsForTheStoresOwnWorkLongerThanForALock() throws InterruptedException {
        Store store = Store.create(directory, Store.Options.defaults().withLockTimeoutMillis(LOCK_MILLIS));
        TransactionSlot slot = store.attached().slots().claim();
        Thread work = Thread.ofPlatform().start(() -> {
            sleep(10 * LOCK_MILLIS);
            store.attached().slots().release(slot);
        });
        store.close();
        assertFalse(work.isAlive() && !work.join(Duration.ofSeconds(10)), "the work has ended");
    }

    @Test
    void closingDoesNotWaitForATransactionLongerThanForALock() {
        Store store = Store.create(directory, Store.Options.defaults().withLockTimeoutMillis(LOCK_MILLIS));
        TransactionSlot own = store.attached().slots().claim();
        StoreTransaction transaction = new StoreTransaction(store.attached(), new Endless());
        transaction.begin();
        String problem = assertThrows(SASException.class, store::close).getMessage();
        assertTrue(problem.contains("somebody"), problem);
        transaction.abort();
        store.attached().slots().release(own);
        store.close();
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whose transaction does not end by itself. */
    private static final class Endless implements StoreTransaction.Tenant {
        @Override
        public boolean isAlive() {
            return true;
        }

        @Override
        public void evict(Runnable undo) {
            undo.run();
        }

        @Override
        public String toString() {
            return "somebody";
        }
    }
}
