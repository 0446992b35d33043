package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.FaultyLog;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Read-only transactions beside other processes, which are stopped and killed in the middle of theirs. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SnapshotProcessTest {
    @TempDir
    Path directory;

    /** A process that is stopped keeps its lock, and a transaction would wait for it. */
    @Test
    void aReadDoesNotWaitForAProcessThatIsStopped() throws Exception {
        Path path = directory.resolve("store");
        try (Store store = Stores.createWithAccounts(path, Stores.SMALL)) {
            Process other = Stores.start(BankProgram.class, path, "keep ann");
            assertEquals("locked", other.inputReader().readLine());
            signal("STOP", other);
            Account ann = store.root("ann", Account.class);
            long start = System.nanoTime();
            assertEquals(0L, Transaction.<Long, RuntimeException>read(ann::balance));
            assertTrue(System.nanoTime() - start < 5_000_000_000L, "it has waited");
            other.destroyForcibly().waitFor();
            assertEquals(0L, Transaction.<Long, RuntimeException>read(ann::balance));
            ann.add(3);
            assertEquals(3L, Transaction.<Long, RuntimeException>read(ann::balance));
        }
    }

    /** Commits keep versions for a reader that is gone until somebody recovers. */
    @Test
    void versionsAreNotKeptForAProcessThatIsDead() throws Exception {
        Path path = directory.resolve("store");
        try (Store store = Stores.createWithAccounts(path, Stores.SMALL)) {
            Process other = Stores.start(SnapshotProgram.class, path);
            assertEquals("Ann", other.inputReader().readLine());
            assertNotEquals(0, Memory.getVolatile(Format.SNAPSHOTS));
            other.destroyForcibly().waitFor();
            store.attached().recovery().reap();
            assertEquals(0, Memory.getVolatile(Format.SNAPSHOTS));
            assertEquals("Ann", Transaction.read(() -> store.root("ann", Account.class).owner()));
        }
    }

    /** What a dead process had committed, and not given back, is a commit for snapshots, too. */
    @Test
    void readsBesideProcessesThatAreKilledAreConsistent() throws Exception {
        Path path = directory.resolve("store");
        try (Store store = Store.create(path, Stores.SMALL)) {
            Bank bank = Transaction.call(() -> {
                Bank made = Bank.create(store.container(Store.MAIN), BankProgram.ACCOUNTS);
                store.setRoot("bank", made);
                return made;
            });
            long seen = 0;
            for (int round = 0; round < 4; round++) {
                Process writers = Stores.start(BankProgram.class, path, round, 3);
                writers.inputReader().readLine();
                long end = System.nanoTime() + 400_000_000L + round * 70_000_000L;
                while (System.nanoTime() < end) {
                    seen = read(bank, seen);
                }
                writers.destroyForcibly();
                while (!writers.waitFor(1, TimeUnit.MILLISECONDS)) {
                    seen = read(bank, seen);
                }
                seen = read(bank, seen);
                Transaction.run(() -> bank.transfer(1, 2, 1));
                long after = read(bank, seen + 1);
                // Of each of its threads, a record may have been written a moment before the kill.
                assertTrue(after <= seen + 4, after + " transfers after " + seen);
                seen = after;
            }
            Stores.check(store);
        }
    }

    /** It dies after it has written its record, and others finish the commit for it. */
    @Test
    void whatIsFinishedForADeadProcessIsNoPartOfAnEarlierSnapshot() throws Exception {
        Path path = directory.resolve("store");
        try (Store store = Store.create(path, Stores.SMALL)) {
            Bank bank = Transaction.call(() -> {
                Bank made = Bank.create(store.container(Store.MAIN), BankProgram.ACCOUNTS);
                store.setRoot("bank", made);
                return made;
            });
            Transaction.read(() -> {
                Stores.start(BankProgram.class, path, "fault", FaultyLog.Fault.DIES_BEHIND_WRITE).waitFor();
                store.attached().recovery().reap();
                assertEquals(1L, Background.await(Background.call(bank::transfers)));
                assertEquals(0, bank.transfers());
                assertNull(bank.audit(BankProgram.ACCOUNTS));
                return null;
            });
        }
    }

    private static long read(Bank bank, long before) {
        return Transaction.read(() -> {
            long transfers = bank.transfers();
            assertTrue(transfers >= before, transfers + " transfers after " + before);
            assertNull(bank.audit(BankProgram.ACCOUNTS));
            assertEquals(transfers, bank.transfers());
            return transfers;
        });
    }

    private static void signal(String name, Process process) throws Exception {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    }
}
