package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.transaction.FaultyLog;
import dev.norn.sas.store.transaction.SlotState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Power is cut at a random moment while threads commit and read: of what was not synced, the disk has any blocks.
 * Everything that a caller got before is there.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PowerLossTest {
    private static final int WRITERS = 4;
    private static final int CUTS = Integer.getInteger("sas.cuts", 10);
    private static final int CUTS_OF_A_STORE = 10;
    private static final long SEED = Long.getLong("sas.seed", System.nanoTime());

    @TempDir
    Path directory;

    /** A store as a power cut leaves it, and what callers had got before: by accounts, the least balance. */
    private record Cut(Path store, long[] told) {}

    @Test
    void whatAnybodyWasToldIsThere() throws Exception {
        Random random = new Random(SEED);
        for (int done = 0; done < CUTS; done += CUTS_OF_A_STORE) {
            Path its = Files.createDirectory(directory.resolve("round"));
            run(its, random);
            delete(its);
        }
    }

    private static void delete(Path directory) throws Exception {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void run(Path directory, Random random) throws Exception {
        Path at = directory.resolve("store");
        // The containers' files are copied as they are, so nothing may be replayed into them meanwhile.
        Store store = Store.create(at, Stores.SMALL.withLogBytes(8 << 20));
        // The last one is everybody's.
        Account[] accounts = new Account[WRITERS + 1];
        for (int i = 0; i <= WRITERS; i++) {
            accounts[i] = Factory.newInstanceIn(Account.class, store.container("main"), i, "somebody");
            store.setRoot("account " + i, accounts[i]);
        }
        store.attached().checkpoint();
        long checkpoints = SlotState.checkpoints();
        FaultyLog log = FaultyLog.install(store);
        log.fault(FaultyLog.Fault.SYNC_TAKES_LONG);
        AtomicLongArray told = new AtomicLongArray(WRITERS + 1);
        AtomicBoolean isOver = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < WRITERS; i++) {
            int number = i;
            threads.add(keep(failures, isOver, () -> commit(accounts, number, told)));
        }
        threads.add(keep(failures, isOver, () -> raise(told, WRITERS, accounts[WRITERS].balance())));
        List<Cut> cuts = new ArrayList<>();
        for (int i = 0; i < CUTS_OF_A_STORE; i++) {
            Thread.sleep(5 + random.nextInt(30));
            cuts.add(cut(log, told, random, directory.resolve("cut-" + i), at));
        }
        isOver.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(checkpoints, SlotState.checkpoints(), "the log is long enough");
        store.close();
        assertEquals(List.of(), failures);
        assertTrue(cuts.getLast().told[WRITERS] > 0, "something was committed before");
        cuts.forEach(PowerLossTest::verify);
    }

    private static Thread keep(List<Throwable> failures, AtomicBoolean isOver, Runnable action) {
        return Thread.ofPlatform().start(() -> {
            try {
                while (!isOver.get()) {
                    action.run();
                }
            } catch (Throwable e) {
                failures.add(e);
            }
        });
    }

    /** Raises a balance of the thread's own and everybody's, in one transaction. */
    private static void commit(Account[] accounts, int number, AtomicLongArray told) {
        long[] after = Transaction.call(() -> {
            accounts[WRITERS].add(1);
            accounts[number].add(1);
            return new long[] {accounts[number].balance(), accounts[WRITERS].balance()};
        });
        raise(told, number, after[0]);
        raise(told, WRITERS, after[1]);
    }

    private static void raise(AtomicLongArray told, int index, long balance) {
        told.accumulateAndGet(index, balance, Math::max);
    }

    private static Cut cut(FaultyLog log, AtomicLongArray told, Random random, Path to, Path from) throws Exception {
        long[] before = new long[told.length()];
        for (int i = 0; i < before.length; i++) {
            before[i] = told.get(i);
        }
        byte[] left = log.afterPowerCut(random, random.nextDouble());
        Files.createDirectory(to);
        try (var files = Files.list(from)) {
            for (Path file : files.filter(file -> !file.endsWith("pool") && !file.endsWith("lock")).toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
        Files.write(to.resolve("redo.log"), left);
        return new Cut(to, before);
    }

    private static void verify(Cut cut) {
        try (Store store = Store.open(cut.store)) {
            long sum = 0;
            for (int i = 0; i <= WRITERS; i++) {
                long balance = store.root("account " + i, Account.class).balance();
                assertTrue(balance >= cut.told[i], "account " + i + " of " + cut.store + " has " + balance
                        + ", told was " + cut.told[i] + "; -Dsas.seed=" + SEED);
                sum += i < WRITERS ? balance : 0;
            }
            long everybodys = store.root("account " + WRITERS, Account.class).balance();
            assertEquals(everybodys, sum, "a transaction is there by half; -Dsas.seed=" + SEED);
        }
    }
}
