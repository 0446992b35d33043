package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.store.log.LogBytes;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.FaultyLog.Fault;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A JVM that dies, and a machine that stops. Committed transfers are there, others are not, and the checker finds
 * nothing: after kill -9 at random moments, seen by a JVM that lives on, by one that comes later, and by one that has
 * the durable files only; after a death at each step of a transaction; and with the log cut off or damaged at each
 * position.
 */
class CrashTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);
    private static final int ROUNDS = Integer.getInteger("sas.rounds", 6);

    @TempDir
    Path directory;
    private Store store;

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
        }
    }

    private Path create() {
        Path at = directory.resolve("store");
        store = Store.create(at, Stores.SMALL);
        Transaction.run(() -> store.setRoot("bank", Bank.create(store.container("main"), BankProgram.ACCOUNTS)));
        return at;
    }

    /** Checks bank and store; returns the number of transfers. */
    private long verify(String when) {
        Stores.check(store);
        Bank bank = store.root("bank", Bank.class);
        assertNull(Transaction.call(() -> bank.audit(BankProgram.ACCOUNTS)), when + ": replay with -Dsas.seed=" + SEED);
        return bank.transfers();
    }

    /** Runs transfers in another JVM and kills it; returns how many it had said were committed. */
    private static long runAndKill(Path at, long seed, int millis) throws IOException, InterruptedException {
        Process child = Stores.start(BankProgram.class, at, seed, 3);
        long said = 0;
        try (var lines = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
            said = Long.parseLong(lines.readLine());
            Thread.sleep(millis);
            child.toHandle().destroyForcibly();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                said = line.isEmpty() ? said : Long.parseLong(line);
            }
            child.waitFor();
        } catch (NumberFormatException e) {
            throw new AssertionError("the child said something else", e);
        }
        return said;
    }

    @Test
    void whatAKilledJvmCommittedIsThereAndTheRestIsNot() throws Exception {
        Path at = create();
        Random random = new Random(SEED);
        for (int round = 0; round < ROUNDS; round++) {
            boolean staysAttached = round % 3 == 0;
            long before = verify("before round " + round);
            if (!staysAttached) {
                store.close();
            }
            long said = runAndKill(at, SEED + round, 20 + random.nextInt(400));
            if (round % 3 == 2) {
                at = Stores.withoutPool(at, directory.resolve("round" + round));
            }
            if (staysAttached) {
                // The living find the dead by the locks that they left: the first transfer has to get through.
                Bank bank = store.root("bank", Bank.class);
                Transaction.run(() -> bank.transfer(0, 1, 1));
                before++;
            } else {
                store = Store.open(at);
            }
            long now = verify("after round " + round);
            assertTrue(now >= before + said && now <= before + said + 3,
                    "round " + round + ": " + now + " transfers after " + before + " and " + said
                            + " that were said to be committed, with three threads; seed " + SEED);
        }
    }

    @Test
    void aDeathAtEachStepOfATransactionLeavesNothing() throws Exception {
        Path at = create();
        for (int step = 0; step < 9; step++) {
            long before = store.root("bank", Bank.class).transfers();
            assertEquals(9, Stores.start(BankProgram.class, at, "step", step).waitFor());
            store.close();
            store = Store.open(at);
            assertEquals(before + (step == 8 ? 2 : 0), verify("after a death at step " + step));
            assertEquals(step == 8, store.roots().contains("other"));
            assertEquals(step == 8, store.containers().contains("other"));
        }
    }

    /** The record decides: it is whole before the sync, but only a machine that keeps running has it for sure. */
    @Test
    void aDeathBeforeTheSyncIsFinishedByTheLivingOrAsTheDiskHasIt() throws Exception {
        Path at = create();
        store.close();
        for (Fault fault : List.of(Fault.DIES_HALFWAY, Fault.DIES_BEHIND_WRITE, Fault.DIES_BEFORE_SYNC,
                Fault.DIES_BEHIND_SYNC)) {
            for (boolean staysAttached : new boolean[] {false, true}) {
                store = Store.open(at);
                long before = verify("before " + fault);
                if (!staysAttached) {
                    store.close();
                }
                Path unwritten = Stores.withoutPool(at, directory.resolve("unwritten " + fault + staysAttached));
                assertEquals(9, Stores.start(BankProgram.class, at, "fault", fault).waitFor());
                Path written = Stores.withoutPool(at, directory.resolve("written " + fault + staysAttached));
                long after = before + (fault == Fault.DIES_HALFWAY ? 0 : 1);
                if (staysAttached) {
                    // Who lives on waits for the dead one's locks, finds it dead, and finishes what it began.
                    Bank bank = store.root("bank", Bank.class);
                    Transaction.run(() -> bank.transfer(1, 2, 3));
                    assertEquals(after + 1, verify("beside a death with " + fault));
                    store.close();
                } else {
                    store = Store.open(at);
                    assertEquals(after, verify("after a death with " + fault));
                    store.close();
                }
                store = Store.open(written);
                assertEquals(after, verify("after a stop of the machine that kept what was written, with " + fault));
                store.close();
                store = Store.open(unwritten);
                assertEquals(before, verify("after a stop of the machine that lost it, with " + fault));
                store.close();
            }
        }
        store = null;
    }

    @Test
    void theLogMayBeCutOrDamagedAnywhereAndWhatIsBeforeIsKept() throws Exception {
        Path at = create();
        Random random = new Random(SEED);
        // So that the log continues at the start of its ring in the middle of a record.
        while (LogBytes.bytesToTurn(store) > 900) {
            BankProgram.transfer(store.root("bank", Bank.class), random);
        }
        store.close();
        store = Store.open(at);
        Bank bank = store.root("bank", Bank.class);
        long before = bank.transfers();
        int transfers = 6;
        long[] ends = new long[transfers + 1];
        ends[0] = store.attached().logBytesUsed();
        for (int i = 1; i <= transfers; i++) {
            BankProgram.transfer(bank, random);
            ends[i] = store.attached().logBytesUsed();
        }
        Path whole = Stores.withoutPool(at, directory.resolve("whole"));
        LogBytes places = LogBytes.of(whole);
        assertTrue(places.place(ends[transfers]) < places.place(0), "the log turns within these transfers");
        byte[] log = Files.readAllBytes(whole.resolve("redo.log"));
        store.close();
        int step = Integer.getInteger("sas.cut", 131);
        for (int cut = 0; cut < ends[transfers]; cut += step) {
            for (int damage = 0; damage < 2; damage++) {
                byte[] bytes = log.clone();
                if (damage == 0) {
                    for (int lost = cut; lost < ends[transfers]; lost++) {
                        bytes[places.place(lost)] = 0;
                    }
                } else {
                    bytes[places.place(cut)] ^= (byte) (1 << random.nextInt(8));
                }
                Files.write(whole.resolve("redo.log"), bytes);
                Path copy = Stores.withoutPool(whole, directory.resolve("cut"));
                Files.deleteIfExists(copy.resolve("pool"));
                int complete = 0;
                while (complete < transfers && ends[complete + 1] <= cut) {
                    complete++;
                }
                var thrown = assertThrows(StorageReadFailure.class, () -> Store.open(copy));
                assertTrue(thrown.getMessage().contains("byte " + places.place(ends[complete]) + " of the file"),
                        thrown.getMessage());
                AttachedStore.recover(copy);
                store = Store.open(copy);
                assertEquals(before + complete,
                        verify("with the log " + (damage == 0 ? "cut" : "damaged") + " at " + cut));
                store.close();
            }
        }
    }
}
