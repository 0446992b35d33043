package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.TransactionConflict;
import dev.norn.sas.store.transaction.FaultyLog.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Which processes are attached, and which are dead: seen by processes of other PID namespaces, by one whose pool or
 * lock file was removed, and of one that is stopped and continues later. Locks of the living are never taken from them,
 * and no two pools of a store are in use.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AttachmentsTest {
    private static final List<String> IN_A_NAMESPACE =
            List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc");
    private static final int TIMEOUT_MILLIS = 300;

    @TempDir
    Path directory;
    private Path at;
    private Store store;
    private Account ann;
    private final List<Process> children = new ArrayList<>();

    private void create(int timeoutMillis) {
        at = directory.resolve("store");
        store = Store.create(at, Stores.SMALL.withLockTimeoutMillis(timeoutMillis));
        ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        store.setRoot("ann", ann);
        store.setRoot("bank", Bank.create(store.container("main"), BankProgram.ACCOUNTS));
    }

    private Process start(List<String> before, Object... arguments) {
        Process child = Stores.startBehind(before, BankProgram.class, arguments);
        children.add(child);
        return child;
    }

    private static void signal(String name, Process process) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor());
    }

    private void kill(Process child) throws Exception {
        // By its handle, so that what it said can be read still.
        child.toHandle().destroyForcibly();
        child.waitFor();
        children.remove(child);
    }

    @AfterEach
    void end() {
        children.forEach(child -> child.toHandle().destroyForcibly());
        if (store != null) {
            store.close();
        }
    }

    private static boolean canMakeNamespaces() {
        try {
            List<String> command = new ArrayList<>(IN_A_NAMESPACE);
            command.add("true");
            return new ProcessBuilder(command).start().waitFor() == 0;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    /** As containers that share a volume: in each, the JVM is process 1, and none sees the others in its /proc. */
    @Test
    void jvmsInNamespacesOfTheirOwnShareAStoreAndRecoverEachOther() throws Exception {
        Assumptions.assumeTrue(canMakeNamespaces(), "unshare --pid needs to be root");
        create(20_000);
        Process first = start(IN_A_NAMESPACE, at, 1, 2);
        Process second = start(IN_A_NAMESPACE, at, 2, 2);
        for (Process child : List.of(first, second)) {
            child.inputReader().readLine();
            Thread.ofPlatform().daemon().start(() -> child.inputReader().lines().forEach(line -> { }));
        }
        Bank bank = store.root("bank", Bank.class);
        Random random = new Random(3);
        for (int i = 0; i < 400; i++) {
            BankProgram.transfer(bank, random);
            assertNull(Transaction.call(() -> bank.audit(BankProgram.ACCOUNTS)));
            if (i == 200) {
                kill(first);
            }
        }
        kill(second);
        // Those in the namespaces die a moment after those who made them.
        while (store.attached().livingProcesses() > 1) {
            Thread.sleep(5);
        }
        Transaction.run(() -> bank.transfer(0, 1, 1));
        assertNull(Transaction.call(() -> bank.audit(BankProgram.ACCOUNTS)));
        store.close();
        store = Store.open(at);
        Stores.check(store);
    }

    @Test
    void theLockOfAJvmInAnotherNamespaceIsKeptAndNamed() throws Exception {
        Assumptions.assumeTrue(canMakeNamespaces(), "unshare --pid needs to be root");
        create(TIMEOUT_MILLIS);
        Process keeper = start(IN_A_NAMESPACE, at, "keep ann");
        assertEquals("locked", keeper.inputReader().readLine());
        Transaction.begin();
        var thrown = assertThrows(TransactionConflict.class, () -> ann.add(1));
        Transaction.abort();
        assertTrue(thrown.getMessage().contains("process 1 of host") && thrown.getMessage().contains("pid:["),
                thrown.getMessage());
        kill(keeper);
        Transaction.run(() -> ann.add(1));
        assertEquals(1, ann.balance(), "what the dead one did is undone");
    }

    @Test
    void aStoppedJvmKeepsItsLocksAndGoesOn() throws Exception {
        create(TIMEOUT_MILLIS);
        Process keeper = start(List.of(), at, "keep ann");
        assertEquals("locked", keeper.inputReader().readLine());
        signal("STOP", keeper);
        Transaction.begin();
        var thrown = assertThrows(TransactionConflict.class, () -> ann.add(1));
        Transaction.abort();
        assertTrue(thrown.getMessage().contains("process " + keeper.pid()), thrown.getMessage());
        signal("CONT", keeper);
        assertEquals(1, store.attached().openTransactions());
    }

    @Test
    void whoCommitsBesideAJvmThatIsStoppedInTheLogIsToldOfIt() throws Exception {
        create(TIMEOUT_MILLIS);
        long transfers = store.root("bank", Bank.class).transfers();
        Process stopped = start(List.of(), at, "fault", Fault.STOPS_BEFORE_WRITE);
        while (!Files.readString(Path.of("/proc/" + stopped.pid() + "/stat")).contains(") T ")) {
            Thread.sleep(5);
        }
        Transaction.begin();
        ann.add(1);
        var thrown = assertThrows(TransactionConflict.class, Transaction::commit);
        assertTrue(thrown.getMessage().contains("process " + stopped.pid())
                && thrown.getMessage().contains("the log's end"), thrown.getMessage());
        assertEquals(0, ann.balance(), "the transaction is undone");
        signal("CONT", stopped);
        assertEquals(0, stopped.waitFor());
        ann.add(1);
        assertEquals(1, ann.balance());
        assertEquals(transfers + 1, store.root("bank", Bank.class).transfers(),
                "the one that was stopped has committed");
        Stores.check(store);
    }

    /** Another pool would be made from the files, and what either has be lost for the other. */
    @Test
    void aPoolOrLockFileThatIsRemovedBesideALivingJvmIsRefused() throws Exception {
        create(20_000);
        store.close();
        store = null;
        for (String file : List.of("pool", "lock")) {
            Process child = start(List.of(), at, 1, 2);
            child.inputReader().readLine();
            Path kept = at.resolve(file + ".kept");
            Files.move(at.resolve(file), kept);
            var thrown = assertThrows(StorageReadFailure.class, () -> Store.open(at));
            assertTrue(thrown.getMessage().contains("pool") && thrown.getMessage().contains("end that process first"),
                    thrown.getMessage());
            if (file.equals("pool")) {
                assertTrue(thrown.getMessage().contains("process " + child.pid()), thrown.getMessage());
                Files.createFile(at.resolve("pool"));
                assertThrows(StorageReadFailure.class, () -> Store.open(at), "another file has its place");
            }
            kill(child);
            long said = child.inputReader().lines().mapToLong(Long::parseLong).max().orElse(1);
            Files.delete(kept);
            store = Store.open(at);
            Bank bank = store.root("bank", Bank.class);
            assertNull(Transaction.call(() -> bank.audit(BankProgram.ACCOUNTS)));
            assertTrue(bank.transfers() >= said,
                    bank.transfers() + " transfers, of which " + said + " were said to be committed");
            Stores.check(store);
            store.close();
            store = null;
        }
    }

    /** The pool has pages that belong to other files. */
    @Test
    void aPoolIsNotTrustedBesideTheFilesOfAnotherDirectory() throws Exception {
        at = directory.resolve("store");
        Path pool = directory.resolve("pool");
        store = Store.create(at, Stores.SMALL.withPool(pool.toString()));
        ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
        store.setRoot("ann", ann);
        Path copy = Stores.withoutPool(at, directory.resolve("copy"));
        ann.add(5);
        store.close();
        store = Store.open(copy);
        assertEquals(0, store.root("ann", Account.class).balance(), "as when the copy was made");
        store.root("ann", Account.class).add(7);
        store.close();
        store = Store.open(at);
        assertEquals(5, store.root("ann", Account.class).balance());
    }
}
