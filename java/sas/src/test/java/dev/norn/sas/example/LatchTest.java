package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.transaction.FaultyLog.Fault;
import dev.norn.sas.store.transaction.SlotState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nothing waits for ever: not for a latch of a dead process, not for one of a thread that an exception threw out of its
 * section, and not for a process that is stopped. And no death between two steps of recovery makes a record count that
 * was never whole.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LatchTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);
    private static final int KILLS = Integer.getInteger("sas.kills", 4);
    /** A value beside the object, as it does not fit the reference to it. */
    private static final String LONG_NAME = "somebody with a long name";

    @TempDir
    Path directory;
    private Path at;
    private Store store;
    private Account ann;
    private Account bob;

    private void open(Store.Options options) {
        at = directory.resolve("store");
        store = Stores.createWithAccounts(at, options);
        ann = store.root("ann", Account.class);
        bob = store.root("bob", Account.class);
        store.setRoot("bank", Bank.create(store.container("main"), BankProgram.ACCOUNTS));
    }

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
        }
    }

    /** The one that waited was recovered first, and waited again, for the latch of the other. */
    @Test
    void aDeathWithOneThreadInTheSyncAndOneWaitingForItIsRecovered() throws Exception {
        open(Stores.SMALL);
        for (int round = 0; round < 2; round++) {
            assertEquals(9, Stores.start(BankProgram.class, at, "two commits").waitFor());
            Background.inTime(() -> Transaction.run(() -> ann.add(1)));
            assertEquals(2 * (round + 1), ann.balance(), "what was in the log counts");
            assertEquals(round + 1, bob.balance(), "what was in the log counts");
        }
        Stores.check(store);
    }

    @Test
    void threeJvmsOfTwoThreadsAreKilledInTurn() throws Exception {
        open(Stores.SMALL);
        store.close();
        store = null;
        Random random = new Random(SEED);
        List<Process> living = new ArrayList<>();
        try {
            for (int kill = 0; kill < KILLS; kill++) {
                while (living.size() < 3) {
                    Process started = Stores.start(BankProgram.class, at, random.nextInt(), 2);
                    living.add(started);
                }
                for (Process process : living) {
                    long lines = 1 + random.nextInt(100);
                    Background.inTime(() -> assertTrue(process.inputReader().lines().limit(lines).count() > 0,
                            "replay with -Dsas.seed=" + SEED));
                }
                living.remove(random.nextInt(living.size())).toHandle().destroyForcibly();
            }
        } finally {
            for (Process process : living) {
                process.toHandle().destroyForcibly();
                process.waitFor();
            }
        }
        Background.inTime(() -> store = Store.open(at));
        assertNull(Transaction.call(() -> store.root("bank", Bank.class).audit(BankProgram.ACCOUNTS)),
                "replay with -Dsas.seed=" + SEED);
        Stores.check(store);
    }

    /**
     * Others append at the dead process's place before its slot is looked at again. Then the end of the log is after
     * its record, of which only a part was ever there.
     */
    @Test
    void aTornRecordDoesNotCountWhenOthersHaveAppendedAtItsPlace() throws Exception {
        open(Stores.SMALL);
        long transfers = store.root("bank", Bank.class).transfers();
        assertEquals(9, Stores.start(BankProgram.class, at, "fault", Fault.DIES_HALFWAY).waitFor());
        SlotState.freeLatches(store);
        for (int i = 0; i < 50; i++) {
            ann.add(1);
        }
        SlotState.recover(store);
        assertEquals(transfers, store.root("bank", Bank.class).transfers());
        Stores.check(store);
    }

    /**
     * The place is free when the page's latch is, and who gets it gets the generation that the dead one's undo entry
     * names.
     */
    @Test
    void anAllocationThatWasCutOffFreesNothingOfWhoGotItsPlace() throws Exception {
        open(Stores.SMALL);
        Process dead = Stores.start(BankProgram.class, at, "die allocating");
        String place = dead.inputReader().readLine();
        assertEquals(9, dead.waitFor());
        SlotState.freeLatches(store);
        Account carl = Factory.newInstanceNear(Account.class, ann, 3, "Carl");
        assertTrue(Factory.describe(carl).contains("@" + place + " "), Factory.describe(carl) + " is not at " + place);
        SlotState.recover(store);
        assertEquals(3, carl.number());
        assertEquals(0, store.attached().openTransactions());
        Stores.check(store);
    }

    /**
     * The recovering process dies after the release of the locks, and others commit before the slot is recovered again.
     */
    @Test
    void recoveryThatIsDoneAgainTakesNothingBackThatWasCommittedMeanwhile() throws Exception {
        open(Stores.SMALL);
        assertEquals(9, Stores.start(BankProgram.class, at, "die in ann").waitFor());
        SlotState.undoUpToRelease(store);
        ann.add(5);
        SlotState.recover(store);
        assertEquals(5, ann.balance());
        assertEquals(0, store.attached().openTransactions());
        Stores.check(store);
    }

    /** Whether a transaction with so much room for undo entries cannot create what it would; it is undone. */
    private boolean isTooMuchFor(int bytes) throws ReflectiveOperationException {
        Transaction.begin();
        ann.add(1);
        SlotState.leaveUndo(bytes);
        try {
            Factory.newInstanceNear(Account.class, ann, 3, LONG_NAME);
            Factory.newLongArrayNear(1000, ann);
            return false;
        } catch (SASException e) {
            assertTrue(e.getMessage().contains("split it"), e.getMessage());
            return true;
        } finally {
            Transaction.abort();
        }
    }

    @Test
    void aTransactionThatCannotBeUndoneThrowsAndOthersGoOn() throws Exception {
        open(Stores.SMALL);
        int bytes = 0;
        while (isTooMuchFor(bytes)) {
            bytes += 8;
            Background.inTime(() -> {
                Factory.destroyInstance(Factory.newInstanceNear(Account.class, ann, 4, LONG_NAME));
                Transaction.run(() -> Factory.newLongArrayNear(1000, ann));
            });
        }
        assertTrue(bytes >= 64, "the stream ended at " + bytes + " different places");
        assertEquals(0, ann.balance());
        assertEquals(0, store.attached().openTransactions());
    }

    private static String said(Path file) {
        try {
            return java.nio.file.Files.readString(file);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /**
     * In a JVM of its own: a class that is loaded at the end of the stack for the first time is of no use to others.
     */
    @Test
    void aStackThatEndsAnywhereLeavesNothingLatchedOrLocked() throws Exception {
        open(Stores.SMALL.withLogBytes(1 << 20));
        // What the JVM says of classes that it cannot load there.
        Path said = directory.resolve("said");
        Process child = Stores.builder(List.of(), DeepStackProgram.class, at).redirectError(said.toFile()).start();
        String committed = child.inputReader().readLine();
        assertEquals(0, child.waitFor(), () -> said(said));
        long before = Long.parseLong(committed);
        Background.inTime(() -> Transaction.run(() -> ann.add(1)));
        assertEquals(before + 1, ann.balance());
        assertEquals(0, store.attached().openTransactions());
        Stores.check(store);
    }

    /** One who kept it could not recover what others left, and nobody else could. */
    @Test
    void aStackThatEndsAnywhereKeepsNobodyOut() throws Exception {
        Path said = directory.resolve("said");
        Process child = Stores.builder(List.of(), AloneProgram.class, directory).redirectError(said.toFile()).start();
        String taken = child.inputReader().readLine();
        assertEquals(0, child.waitFor(), () -> said(said));
        assertTrue(Integer.parseInt(taken) > 100, taken);
    }
}
