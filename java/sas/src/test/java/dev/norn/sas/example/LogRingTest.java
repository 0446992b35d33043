package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.transaction.FaultyLog;
import dev.norn.sas.store.log.LogBytes;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The ring of the log: records of all lengths go round it many times, longer ones make it grow, checkpoints run beside
 * commits, and a process or the machine may stop at any moment of all that.
 */
class LogRingTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);

    @TempDir
    Path directory;

    /** The same value in every element. */
    static class Page {
        long[] numbers;

        static Page create(int length, Object near) {
            Page page = Factory.newInstanceNear(Page.class, near);
            page.numbers = Factory.newLongArrayNear(length, page);
            return page;
        }

        void fill(long value) {
            long[] its = numbers;
            for (int i = 0; i < its.length; i++) {
                its[i] = value;
            }
        }

        long value() {
            long[] its = numbers;
            for (long number : its) {
                assertEquals(its[0], number, "a change is there as a whole");
            }
            return its[0];
        }
    }

    private static void make(Store store, int pages, int length) {
        Transaction.run(() -> {
            Account first = Factory.newInstanceIn(Account.class, store.container("main"), 0, "near");
            for (int i = 0; i < pages; i++) {
                store.setRoot("page " + i, Page.create(length, first));
            }
        });
    }

    private static Page page(Store store, int number) {
        return store.root("page " + number, Page.class);
    }

    private static long value(Store store, int number) {
        return Transaction.call(() -> page(store, number).value());
    }

    @Test
    void aMachineMayStopAnywhereOnTheRing() {
        Path at = directory.resolve("store");
        Random random = new Random(SEED);
        int pages = 6;
        long[] model = new long[pages];
        try (Store store = Store.create(at, Stores.SMALL)) {
            make(store, pages, 900);
            for (int step = 1; step <= 200; step++) {
                int number = random.nextInt(pages);
                long value = step;
                int length = 1 + random.nextInt(900);
                Transaction.run(() -> {
                    // Of some elements only, so that records have all lengths; the rest follows.
                    long[] its = page(store, number).numbers;
                    for (int i = 0; i < length; i++) {
                        its[i] = value;
                    }
                });
                Transaction.run(() -> page(store, number).fill(value));
                model[number] = value;
                if (step % 25 == 0) {
                    verify(Stores.withoutPool(store, at, directory.resolve("step" + step)), model,
                            "step " + step + ", seed " + SEED);
                }
            }
            assertTrue(store.attached().counts().loggedBytes() > 10L << 16, "the log went round ten times");
            assertTrue(store.attached().counts().checkpoints() > 10, store.attached().counts().toString());
            Stores.check(store);
        }
    }

    /** In a JVM of its own, as this one has the store open. */
    private void verify(Path copy, long[] model, String when) {
        StringBuilder values = new StringBuilder();
        for (long value : model) {
            values.append(value).append(' ');
        }
        try {
            assertEquals(0,
                    Stores.start(LogRingProgram.class, copy, "verify", values.toString().trim()).waitFor(), when);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aRecordLongerThanTheRingMakesItGrow() {
        Path at = directory.resolve("store");
        Path copy = directory.resolve("copy");
        try (Store store = Store.create(at, Stores.SMALL)) {
            make(store, 1, 50_000);
            for (int value = 1; value <= 3; value++) {
                long its = value;
                Transaction.run(() -> page(store, 0).fill(its));
            }
            Stores.withoutPool(store, at, copy);
        }
        try (Store store = Store.open(copy)) {
            assertEquals(3, value(store, 0));
            Stores.check(store);
        }
    }

    /**
     * A record after one that was never synced, and was lost, is left out, and must not follow the next that is written
     * in the lost one's place.
     */
    @Test
    void aRecordThatWasLeftOutNeverComesBack() throws Exception {
        Path at = directory.resolve("store");
        Path lost = directory.resolve("lost");
        Path later = directory.resolve("later");
        try (Store store = Store.create(at, Stores.SMALL)) {
            for (String name : new String[] {"ann", "bob"}) {
                store.setRoot(name, Factory.newInstanceIn(Account.class, store.container("main"), 1, name));
            }
        }
        try (Store store = Store.open(at)) {
            List<Account> accounts = List.of(store.root("ann", Account.class), store.root("bob", Account.class));
            FaultyLog log = FaultyLog.install(store);
            log.fault(FaultyLog.Fault.SYNC_WAITS);
            List<Thread> threads = new ArrayList<>();
            for (Account account : accounts) {
                long used = store.attached().logBytesUsed();
                threads.add(Thread.ofPlatform().start(() -> account.add(1)));
                while (store.attached().logBytesUsed() == used) {
                    Thread.sleep(1);
                }
            }
            Stores.withoutPool(at, lost);
            log.fault(FaultyLog.Fault.NONE);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        try (RandomAccessFile log = new RandomAccessFile(lost.resolve("redo.log").toFile(), "rw")) {
            log.seek(LogBytes.of(lost).place(40));
            log.write(new byte[8]);
        }
        try (Store store = Store.open(lost)) {
            assertEquals(0, store.root("ann", Account.class).balance());
            assertEquals(0, store.root("bob", Account.class).balance());
            store.root("ann", Account.class).add(2);
            Stores.withoutPool(lost, later);
        }
        try (Store store = Store.open(later)) {
            assertEquals(2, store.root("ann", Account.class).balance());
            assertEquals(0, store.root("bob", Account.class).balance(),
                    "this was not committed, and the machine has stopped since");
        }
    }

    @Test
    void othersCommitWhileACheckpointOrABackupGoesOn() throws Exception {
        Path at = directory.resolve("store");
        try (Store store = Store.create(at, Store.Options.defaults().withLogBytes(8 << 20))) {
            make(store, 2, 900);
            AtomicBoolean isOver = new AtomicBoolean();
            AtomicLong commits = new AtomicLong();
            CountDownLatch started = new CountDownLatch(1);
            Thread writer = Thread.ofPlatform().start(() -> {
                for (long value = 1; !isOver.get(); value++) {
                    long its = value;
                    Transaction.run(() -> {
                        page(store, 0).fill(its);
                        page(store, 1).fill(its);
                    });
                    commits.set(value);
                    started.countDown();
                }
            });
            assertTrue(started.await(20, TimeUnit.SECONDS));
            for (int i = 0; i < 5; i++) {
                store.attached().backup(directory.resolve("backup" + i));
            }
            isOver.set(true);
            writer.join();
            assertEquals(commits.get(), value(store, 0));
            Stores.check(store);
        }
        for (int i = 0; i < 5; i++) {
            try (Store store = Store.open(directory.resolve("backup" + i))) {
                assertEquals(value(store, 0), value(store, 1), "a backup is of one moment");
                Stores.check(store);
            }
        }
    }

    @Test
    void whenTheRingIsFullCommitsWait() throws Exception {
        Path at = directory.resolve("store");
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicLong commits = new AtomicLong();
        try (Store store = Store.create(at, Stores.SMALL)) {
            make(store, 1, 200);
            long ring = LogBytes.of(at).ring();
            Thread writer = new Thread(() -> {
                while (!isOver.get()) {
                    Transaction.run(() -> page(store, 0).fill(commits.get() + 1));
                    commits.incrementAndGet();
                }
            });
            FaultyLog.duringCheckpoint(store, () -> {
                writer.start();
                for (long seen = -1; seen != commits.get();) {
                    seen = commits.get();
                    sleep(400);
                }
                long used = store.attached().logBytesUsed();
                assertTrue(used > ring / 2 && used <= ring, used + " of " + ring + " are in use, and the writer waits");
                verify(Stores.withoutPool(at, directory.resolve("full")), new long[] {commits.get()},
                        "with a full ring");
            });
            long full = commits.get();
            for (int i = 0; i < 200 && commits.get() == full; i++) {
                sleep(50);
            }
            assertTrue(commits.get() > full, "it goes on when there is room");
            isOver.set(true);
            writer.join();
        }
    }

    @Test
    void halfARingIsReplayedWithoutAnyCommit() throws Exception {
        Path at = directory.resolve("store");
        try (Store store = Store.create(at, Stores.SMALL)) {
            make(store, 1, 200);
            long ring = LogBytes.of(at).ring();
            long before = store.attached().counts().checkpoints();
            for (long value = 1; store.attached().logBytesUsed() < 0.6 * ring
                    && store.attached().counts().checkpoints() == before; value++) {
                long its = value;
                Transaction.run(() -> page(store, 0).fill(its));
            }
            for (int i = 0; i < 200 && store.attached().counts().checkpoints() == before; i++) {
                sleep(50);
            }
            assertEquals(before + 1, store.attached().counts().checkpoints(),
                    "nobody commits any more, so it is the store's own thread that replays");
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aJvmKilledInACheckpointIsNoLoss() throws Exception {
        Path at = directory.resolve("store");
        try (Store store = Store.create(at, Stores.SMALL)) {
            make(store, 2, 900);
        }
        Random random = new Random(SEED);
        int rounds = Integer.getInteger("sas.rounds", 6);
        for (int round = 0; round < rounds; round++) {
            Process child = Stores.start(LogRingProgram.class, at, "fill");
            long said = 0;
            try (var lines = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
                said = Long.parseLong(lines.readLine());
                Thread.sleep(random.nextInt(150));
                child.toHandle().destroyForcibly();
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    said = line.isEmpty() ? said : Long.parseLong(line);
                }
            }
            child.waitFor();
            Path found = round % 2 == 0 ? at : Stores.withoutPool(at, directory.resolve("round" + round));
            try (Store store = Store.open(found)) {
                long value = value(store, 0);
                assertTrue(value == said || value == said + 1,
                        "round " + round + ": " + value + ", said " + said + ", seed " + SEED);
                assertEquals(value, value(store, 1));
                Stores.check(store);
            }
        }
    }
}
