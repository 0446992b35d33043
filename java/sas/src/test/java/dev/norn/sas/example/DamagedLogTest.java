package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.log.LogBytes;
import dev.norn.sas.store.log.OldLog;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.FaultyLog.Fault;
import dev.norn.sas.store.transaction.FaultyLog;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Logs of real stores, changed at random places. Either all that was acknowledged is there, or the store says where its
 * log is damaged and does not open until somebody accepts the loss; then it has exactly what was committed before the
 * damage. What was never synced may be there in any pages, and is cut off without a word.
 */
class DamagedLogTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);
    private static final int DOCUMENTS = 120;
    private static final int THREADS = 6;
    /** A record without operations. */
    private static final int MARK_BYTES = 40;
    private static final int LOG_BYTES = 1 << 18;
    /** All that these tests write of the log is before this byte of the file. */
    private static final int USED_BYTES = 1 << 16;

    @TempDir
    Path directory;
    private Path at;
    private Store store;
    private final Random random = new Random(SEED);

    static class Document {
        int number;
        String text;
        Document before;
    }

    static class Shelf {
        Document last;
        int size;
    }

    @BeforeEach
    void create() {
        at = directory.resolve("store");
        // So long that nothing is replayed in the background.
        store = Store.create(at, Store.Options.defaults().withLogBytes(LOG_BYTES));
        store.setRoot("shelf", Factory.newInstanceIn(Shelf.class, store.container("main")));
        store.attached().checkpoint();
    }

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
        }
    }

    private void open(Path path) {
        store = Store.open(path);
    }

    private void shut() {
        store.close();
        store = null;
    }

    private static String text(int number) {
        return number + "y".repeat(new Random(number).nextInt(400));
    }

    private void add(int number) {
        Transaction.run(() -> {
            Shelf shelf = store.root("shelf", Shelf.class);
            Document fresh = Factory.newInstanceNear(Document.class, shelf);
            fresh.number = number;
            fresh.text = text(number);
            fresh.before = shelf.last;
            shelf.last = fresh;
            shelf.size++;
        });
    }

    /** How many documents there are: all up to one number. */
    private int documents(String when) {
        return Transaction.call(() -> {
            Shelf shelf = store.root("shelf", Shelf.class);
            int number = shelf.size;
            for (Document document = shelf.last; document != null; document = document.before) {
                number--;
                assertEquals(number, document.number, when);
                assertEquals(text(number), document.text, when);
            }
            assertEquals(0, number, when);
            return shelf.size;
        });
    }

    /** A store whose log has all of the documents, as a stop of the machine leaves it. */
    private Path filled() throws Exception {
        for (int i = 0; i < DOCUMENTS; i++) {
            add(i);
            if (i == DOCUMENTS / 3) {
                store.attached().checkpoint();
            }
        }
        assertTrue(LogBytes.of(at).place(store.attached().logBytesUsed()) < USED_BYTES);
        Path whole = Stores.withoutPool(at, directory.resolve("whole"));
        shut();
        return whole;
    }

    /** What is left of the log, changed at a random place. */
    private byte[] change(byte[] log, int kind) {
        byte[] its = log.clone();
        int place = random.nextInt(random.nextInt(8) == 0 ? its.length : USED_BYTES);
        int length = Math.min(1 + random.nextInt(600), its.length - place);
        switch (kind) {
            case 0 -> its[place] ^= (byte) (1 << random.nextInt(8));
            case 1 -> Arrays.fill(its, place, place + length, (byte) 0);
            case 2 -> {
                byte[] noise = new byte[length];
                random.nextBytes(noise);
                System.arraycopy(noise, 0, its, place, length);
            }
            case 3 -> its = Arrays.copyOf(its, place);
            default -> {
                // A page that never reached the disk, and one that was written to a wrong place.
                int page = place / 4096 * 4096;
                System.arraycopy(its, random.nextInt(its.length / 4096) * 4096, its, page, 4096);
            }
        }
        return its;
    }

    @Test
    void aLogThatIsChangedAnywhereLosesNothingSilently() throws Exception {
        Path whole = filled();
        byte[] log = Files.readAllBytes(whole.resolve("redo.log"));
        int rounds = Integer.getInteger("sas.flips", 25);
        int damaged = 0;
        for (int round = 0; round < rounds; round++) {
            Path copy = Stores.withoutPool(whole, directory.resolve("round" + round));
            byte[] its = change(log, round % 5);
            Files.write(copy.resolve("redo.log"), its);
            String when = "round " + round + ", seed " + SEED;
            try {
                open(copy);
                assertEquals(DOCUMENTS, documents(when), when);
                Stores.check(store);
            } catch (StorageReadFailure e) {
                damaged++;
                assertTrue(e.getMessage().contains(copy + "/redo.log is damaged")
                        && e.getMessage().contains("sas recover --accept-loss " + copy), when + ": " + e);
                acceptLoss(copy, its, when + ": " + e.getMessage());
            }
            shut();
        }
        assertTrue(damaged > rounds / 5 && damaged < rounds, damaged + " of " + rounds + " were damaged");
    }

    private void acceptLoss(Path copy, byte[] its, String when) throws Exception {
        assertThrows(StorageReadFailure.class, () -> open(copy), "it stays damaged: " + when);
        List<String> lost = AttachedStore.recover(copy);
        assertTrue(lost.stream().anyMatch(line -> line.contains("lost")), lost + when);
        assertEquals(-1, Arrays.mismatch(its, Files.readAllBytes(copy.resolve("redo.lost-1"))), "it is kept: " + when);
        open(copy);
        int left = documents(when);
        assertTrue(left <= DOCUMENTS && left >= DOCUMENTS / 3, left + " are left, " + when);
        for (String line : lost) {
            if (line.contains(" whole records are lost")) {
                int behind = Integer.parseInt(line.replaceAll(".* bytes with (\\d+) whole.*", "$1"));
                assertTrue(left + behind <= DOCUMENTS, left + " are left, and " + lost + ", " + when);
            }
        }
        Stores.check(store);
        add(left);
        Path next = Stores.withoutPool(copy, copy.resolveSibling(copy.getFileName() + " next"));
        shut();
        open(next);
        assertEquals(left + 1, documents(when), "it goes on: " + when);
    }

    /**
     * Each of some threads appends a record that is not synced; then the machine stops, and some of the pages have
     * reached the disk.
     */
    @Test
    void whatWasNotSyncedIsCutOffSilentlyWhicheverPagesAreThere() throws Exception {
        List<Account> accounts = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Account account = Factory.newInstanceIn(Account.class, store.container("main"), i, "Ann");
            store.setRoot("account " + i, account);
            accounts.add(account);
        }
        for (int i = 0; i < 20; i++) {
            add(i);
        }
        byte[] synced = Files.readAllBytes(at.resolve("redo.log"));
        long before = store.attached().logBytesUsed();
        FaultyLog log = FaultyLog.install(store);
        log.fault(Fault.SYNC_WAITS);
        List<Thread> threads = new ArrayList<>();
        for (Account account : accounts) {
            threads.add(Thread.ofPlatform().start(() -> account.rename("x".repeat(500 + 700 * account.number()))));
            for (long used = store.attached().logBytesUsed(); used == before; used = store.attached().logBytesUsed()) {
                Thread.sleep(1);
            }
            before = store.attached().logBytesUsed();
        }
        Path whole = Stores.withoutPool(at, directory.resolve("whole"));
        log.fault(Fault.NONE);
        for (Thread thread : threads) {
            thread.join();
        }
        shut();
        byte[] appended = Files.readAllBytes(whole.resolve("redo.log"));
        int[] seen = new int[THREADS + 1];
        for (int round = 0; round < Integer.getInteger("sas.rounds", 6) * 4; round++) {
            int pageBytes = round % 2 == 0 ? 4096 : 512;
            byte[] its = synced.clone();
            for (int page = 0; page < its.length; page += pageBytes) {
                if (round == 0 || random.nextInt(8) != 0) {
                    System.arraycopy(appended, page, its, page, pageBytes);
                }
            }
            Path copy = Stores.withoutPool(whole, directory.resolve("torn" + round));
            Files.write(copy.resolve("redo.log"), its);
            String when = "round " + round + ", seed " + SEED;
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            PrintStream standard = System.err;
            System.setErr(new PrintStream(said));
            try {
                open(copy);
            } finally {
                System.setErr(standard);
            }
            assertEquals("", said.toString(), when);
            assertEquals(20, documents(when), when);
            int there = 0;
            while (there < THREADS && store.root("account " + there, Account.class).owner().length() > 3) {
                there++;
            }
            for (int i = there; i < THREADS; i++) {
                assertEquals("Ann", store.root("account " + i, Account.class).owner(),
                        "nothing is there behind a gap, " + when);
            }
            seen[there]++;
            Stores.check(store);
            shut();
        }
        assertEquals(1, Math.min(1, seen[THREADS]), "in the first round, all are there");
        assertTrue(Arrays.stream(seen).filter(count -> count > 0).count() >= 3,
                "tails of several lengths: " + Arrays.toString(seen));
    }

    @Test
    void aLogThatIsGoneOrAnothersIsNotMadeAnew() throws Exception {
        Path whole = filled();
        Path other = directory.resolve("other");
        Store.create(other, Stores.SMALL).close();
        for (String case_ : List.of(
                "it is not there", "it is the log", "none of its headers is valid", "it was cut off")) {
            Path copy = Stores.withoutPool(whole, directory.resolve(case_));
            Path log = copy.resolve("redo.log");
            switch (case_) {
                case "it is not there" -> Files.delete(log);
                case "it is the log" -> Files.write(log, Files.readAllBytes(other.resolve("redo.log")));
                case "it was cut off" -> Files.write(log, Arrays.copyOf(Files.readAllBytes(log), USED_BYTES));
                default -> Files.write(log, new byte[1 << 16]);
            }
            var thrown = assertThrows(StorageReadFailure.class, () -> open(copy));
            assertTrue(thrown.getMessage().contains(case_), thrown.getMessage());
            boolean isThere = Files.exists(log);
            List<String> lost = AttachedStore.recover(copy);
            assertTrue(lost.getFirst().contains(case_), lost.toString());
            assertEquals(isThere, Files.exists(copy.resolve("redo.lost-1")));
            open(copy);
            int left = documents(case_);
            assertTrue(left > DOCUMENTS / 3 && left <= DOCUMENTS, left + " of the checkpoint");
            Stores.check(store);
            shut();
            assertEquals(List.of(), AttachedStore.recover(copy), "now it is whole");
        }
    }

    @Test
    void aLogOfTheFormatBeforeIsConvertedWhenTheStoreIsOpened() throws Exception {
        Path whole = filled();
        OldLog.replace(whole);
        open(whole);
        assertEquals(DOCUMENTS, documents("with a log of format 2"));
        Stores.check(store);
        add(DOCUMENTS);
        assertTrue(Files.readString(whole.resolve("store.properties")).contains("log="));
        assertFalse(Files.exists(whole.resolve("redo.lost-1")));
        Path next = Stores.withoutPool(whole, directory.resolve("next"));
        shut();
        open(next);
        assertEquals(DOCUMENTS + 1, documents("with a log of this format"));
    }

    @Test
    void recordsBehindAGapOfAnOldLogAreKeptAside() throws Exception {
        Path whole = filled();
        OldLog.replace(whole);
        LogBytes places = LogBytes.of(whole);
        byte[] log = Files.readAllBytes(whole.resolve("redo.log"));
        log[places.place(3000)] ^= 1;
        Files.write(whole.resolve("redo.log"), log);
        open(whole);
        int left = documents("behind the gap");
        assertTrue(left > DOCUMENTS / 3 && left < DOCUMENTS, left + " are before the gap");
        assertEquals(-1, Arrays.mismatch(log, Files.readAllBytes(whole.resolve("redo.lost-1"))));
        Stores.check(store);
    }

    /** A copy of a store with 30 documents, whose replay was cut off before the header says that it is done. */
    private Path cutReplayOff() throws Exception {
        for (int i = 0; i < 30; i++) {
            add(i);
        }
        FaultyLog log = FaultyLog.install(store);
        log.fault(Fault.SECOND_HEADER_FAILS);
        assertThrows(StorageWriteFailure.class, () -> store.attached().checkpoint());
        Path copy = Stores.withoutPool(at, directory.resolve("copy"));
        log.fault(Fault.NONE);
        shut();
        return copy;
    }

    /**
     * The containers' files have the records after the gap, too, but the header does not say so yet: going back to the
     * records before it would make a mixture.
     */
    @Test
    void damageToAReplayThatWasCutOffAppliesWhatCanBeRead() throws Exception {
        Path copy = cutReplayOff();
        LogBytes places = LogBytes.of(copy);
        byte[] bytes = Files.readAllBytes(copy.resolve("redo.log"));
        bytes[places.place(2000)] ^= 1;
        Files.write(copy.resolve("redo.log"), bytes);
        assertThrows(StorageReadFailure.class, () -> open(copy));
        List<String> lost = AttachedStore.recover(copy);
        assertTrue(lost.stream().anyMatch(line -> line.contains("a replay was cut off")), lost.toString());
        open(copy);
        assertEquals(30, documents("all that had been applied"));
        Stores.check(store);
    }

    /** What a replay has begun to apply was durable, even if nothing after it is left that says so. */
    @Test
    void damageToTheLastRecordOfAReplayThatWasCutOffIsNamed() throws Exception {
        Path copy = cutReplayOff();
        LogBytes places = LogBytes.of(copy);
        byte[] bytes = Files.readAllBytes(copy.resolve("redo.log"));
        ByteBuffer records = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int last = 0;
        for (int at = 0; records.getInt(places.place(at) + 4) > MARK_BYTES;
                at += records.getInt(places.place(at) + 4)) {
            last = at;
        }
        Arrays.fill(bytes, places.place(last) + 60, bytes.length, (byte) 0);
        Files.write(copy.resolve("redo.log"), bytes);
        var thrown = assertThrows(StorageReadFailure.class, () -> open(copy));
        assertTrue(thrown.getMessage().contains("no valid record is at position"), thrown.getMessage());
    }

    /**
     * Who puts a backup's files over those of a store, but leaves the log or the pool, does not get a mixture of both.
     */
    @Test
    void aBackupBesideAnotherLifesLogAndPoolIsNoMixture() throws Exception {
        for (int i = 0; i < 10; i++) {
            add(i);
        }
        store.attached().backup(directory.resolve("backup"));
        for (int i = 10; i < 20; i++) {
            add(i);
        }
        Path copy = Stores.withoutPool(at, directory.resolve("copy"));
        shut();
        Stores.withoutPool(directory.resolve("backup"), copy);
        var thrown = assertThrows(StorageReadFailure.class, () -> open(copy));
        assertTrue(thrown.getMessage().contains("but store.properties names none"), thrown.getMessage());
        Files.delete(copy.resolve("redo.log"));
        open(copy);
        assertEquals(10, documents("in the backup"));
        shut();
        Stores.withoutPool(directory.resolve("backup"), at);
        Files.delete(at.resolve("redo.log"));
        open(at);
        assertEquals(10, documents("in the backup, beside the pool of the life before"));
    }

    /**
     * A checkpoint that does not reach the records that were committed is no shorter log: the containers' files lack
     * those records, and the log is kept.
     */
    @Test
    void aCheckpointThatMeetsDamageSaysSoAndKeepsTheLog() throws Exception {
        for (int i = 0; i < 30; i++) {
            add(i);
        }
        LogBytes places = LogBytes.of(at);
        byte[] log = Files.readAllBytes(at.resolve("redo.log"));
        log[places.place(2000)] ^= 1;
        Files.write(at.resolve("redo.log"), log);
        long used = store.attached().logBytesUsed();
        var thrown = assertThrows(StorageWriteFailure.class, () -> store.attached().checkpoint());
        assertTrue(thrown.getMessage().contains("redo.log is damaged: no valid record is at position"),
                thrown.getMessage());
        assertEquals(used, store.attached().logBytesUsed());
        assertEquals(30, documents("in the pool"));
        log[places.place(2000)] ^= 1;
        Files.write(at.resolve("redo.log"), log);
        store.attached().checkpoint();
        assertEquals(0, store.attached().logBytesUsed(), "and when it can be read again, it goes on");
    }
}
