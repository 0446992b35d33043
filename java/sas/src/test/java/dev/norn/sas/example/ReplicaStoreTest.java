package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.NotLeader;
import dev.norn.sas.exception.Outcome;
import dev.norn.sas.exception.OutcomeUnknown;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.replica.RecordBatch;
import dev.norn.sas.store.replica.ReplicaStore;
import dev.norn.sas.store.replica.ReplicaStore.Sender;
import dev.norn.sas.store.transaction.FaultyLog;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Members of a group, one after the other in this JVM: what a leader does, followers get in batches. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReplicaStoreTest {
    @TempDir
    Path directory;
    private Group group;

    /** Runs the transactions of a leader while another thread hands its records on. */
    private void leading(ReplicaStore replica, Runnable transactions) {
        AtomicBoolean isOver = new AtomicBoolean();
        CompletableFuture<Void> shipper = Background.run(() -> {
            try {
                while (group.ship(replica, 10_000_000) || !isOver.get()) {
                    // Until all is shipped.
                }
            } catch (java.io.IOException | RuntimeException e) {
                // Who waits for it fails, too.
                replica.lose();
                throw new AssertionError(e);
            }
        });
        try {
            transactions.run();
        } catch (RuntimeException | Error e) {
            isOver.set(true);
            shipper.whenComplete((nothing, failure) -> e.addSuppressed(failure == null ? e : failure));
            throw e;
        }
        isOver.set(true);
        shipper.join();
    }

    /** What the pile is after each record. */
    private TreeMap<Long, String> runLeader(Path member, long epoch, Random random, int rounds) {
        TreeMap<Long, String> history = new TreeMap<>();
        try (Store store = Store.openReplica(member)) {
            ReplicaStore replica = ReplicaStore.of(store.attached());
            replay(replica);
            group.lead(replica, epoch);
            Pile pile = Group.pile(store);
            history.put(replica.number(), Transaction.read(pile::describe));
            leading(replica, () -> {
                for (int round = 0; round < rounds; round++) {
                    Transaction.begin();
                    for (int steps = random.nextInt(6); steps >= 0; steps--) {
                        pile.step(random);
                    }
                    if (random.nextInt(30) == 0) {
                        store.createContainer("more" + replica.number(), 1 << 20);
                        store.setRoot("last", Factory.newInstanceNear(Account.class, pile, round, "Ann"));
                    }
                    if (random.nextInt(4) == 0) {
                        Transaction.abort();
                    } else {
                        Transaction.commit();
                        history.put(replica.number(), Transaction.read(pile::describe));
                    }
                }
            });
            Stores.check(store);
        }
        return history;
    }

    /** What a member gets that was attached again: everything. */
    private void replay(ReplicaStore replica) {
        group.batches.forEach(batch -> replica.take(RecordBatch.decode(batch), Sender.OTHER));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void aFollowerHasWhatTheLeaderHadAfterEachRecord(long seed) throws Exception {
        Random random = new Random(seed);
        group = new Group(directory);
        Path follower = group.copy(1);
        TreeMap<Long, String> history = runLeader(group.member(0), 3, random, 200);
        assertTrue(history.size() > 100);
        try (Store store = Store.openReplica(follower)) {
            ReplicaStore replica = ReplicaStore.of(store.attached());
            Pile pile = Group.pile(store);
            for (byte[] batch : group.batches) {
                replica.take(RecordBatch.decode(batch), Sender.OTHER);
                String expected = history.get(replica.number());
                if (expected != null) {
                    assertEquals(expected, Transaction.read(pile::describe), "seed " + seed + " at " + replica);
                }
            }
            assertEquals(history.lastKey(), replica.number());
            Stores.check(store);
        }
        // It continues where its containers' files are, and then leads, and the first one follows.
        TreeMap<Long, String> next = runLeader(follower, 7, random, 60);
        assertEquals(history.lastEntry().getValue(), next.firstEntry().getValue());
        try (Store store = Store.openReplica(group.member(0))) {
            ReplicaStore replica = ReplicaStore.of(store.attached());
            replay(replica);
            assertEquals(next.lastEntry().getValue(), Transaction.read(Group.pile(store)::describe));
            Stores.check(store);
        }
    }

    @Test
    void aFollowerIsReadOnly() throws Exception {
        group = new Group(directory);
        try (Store store = Store.openReplica(group.member(0))) {
            ReplicaStore replica = ReplicaStore.of(store.attached());
            Pile pile = Group.pile(store);
            var refused = assertThrows(NotLeader.class, () -> Transaction.run(() -> pile.step(new Random(1))));
            assertFalse(refused.mustReopen());
            assertThrows(NotLeader.class, () -> store.setRoot("pile", null));
            assertEquals(0, store.root("pile", Pile.class).steps(), "one look reads as Transaction.read does");
            assertEquals(List.of("pile"), store.roots());
            assertFalse(store.isLeading());
            assertFalse(store.awaitLeading(Duration.ofMillis(10)));
            assertEquals(0, Transaction.<Integer, RuntimeException>read(pile::steps));
            assertFalse(replica.isLeader());
        }
        assertThrows(StorageReadFailure.class, () -> Store.open(group.member(0)), "the group knows what counts");
    }

    /** What is refused leaves nothing behind that the member would take for a program that uses the store. */
    @Test
    void aMemberIsOpenedWhileProgramsTryInVain() throws Exception {
        group = new Group(directory);
        Process program = Stores.start(VainProgram.class, group.member(0));
        try {
            assertEquals("tries", program.inputReader().readLine());
            for (long start = System.nanoTime(); System.nanoTime() - start < 8_000_000_000L;) {
                try {
                    Store.openReplica(group.member(0)).close();
                } catch (StorageReadFailure e) {
                    // The program has opened what was open before.
                    assertTrue(e.getMessage().contains("is used by process"), e.getMessage());
                }
            }
        } finally {
            program.destroyForcibly().waitFor();
        }
    }

    /** Two records are not in any batch when another one leads: one is in the log, one waits for its place. */
    @Test
    void whatWasNotAcknowledgedIsUndoneWhenALeaderReturns() throws Exception {
        group = new Group(directory);
        Path follower = group.copy(1);
        Random random = new Random(5);
        TreeMap<Long, String> history = runLeader(group.member(0), 1, random, 40);
        List<OutcomeUnknown> unknown = new ArrayList<>();
        try (Store store = Store.openReplica(group.member(0))) {
            ReplicaStore replica = ReplicaStore.of(store.attached());
            replay(replica);
            group.lead(replica, 2);
            Pile pile = Group.pile(store);
            CompletableFuture<OutcomeUnknown> lost = Background.call(() -> assertThrows(OutcomeUnknown.class,
                    () -> Transaction.run(() -> pile.step(random))));
            RecordBatch never = replica.next(1 << 16, 10_000_000_000L);
            assertEquals(history.lastKey() + 1, replica.number());
            assertFalse(lost.isDone(), "it waits for a majority");
            assertEquals(Outcome.NOT_YET, replica.outcome(2, replica.number()));
            group.batches.add(ReplicaStore.beginning(9).encode());
            assertThrows(StorageWriteFailure.class, () -> replay(replica));
            unknown.add(Background.await(lost));
            assertEquals(Outcome.NOT_YET, replica.outcome(2, replica.number()), "the next leader decides");
            assertEquals(Outcome.COMMITTED, replica.outcome(1, history.lastKey()));
            assertTrue(assertThrows(NotLeader.class, () -> Transaction.run(() -> pile.step(random))).mustReopen());
            assertThrows(NotLeader.class, () -> store.awaitLeading(Duration.ofSeconds(10)));
            // It comes late, and all members leave it out.
            group.batches.add(never.encode());
        }
        for (Path member : List.of(follower, group.member(0))) {
            try (Store store = Store.openReplica(member)) {
                ReplicaStore replica = ReplicaStore.of(store.attached());
                replay(replica);
                assertEquals(history.lastEntry().getValue(), Transaction.read(Group.pile(store)::describe));
                OutcomeUnknown one = unknown.getFirst();
                assertEquals(2, one.epoch());
                assertEquals(history.lastKey() + 1, one.number());
                assertEquals(Outcome.UNDONE, replica.outcome(one.epoch(), one.number()));
                assertEquals(Outcome.COMMITTED, replica.outcome(1, history.lastKey()));
                assertEquals(Outcome.UNDONE, replica.outcome(5, 1), "nobody has led then");
                assertEquals(Outcome.NOT_YET, replica.outcome(10, 1));
                assertEquals(9, replica.epoch());
                Stores.check(store);
            }
        }
    }

    /** It is killed at any time, also while it brings its containers' files up to date, and goes on where these are. */
    @Test
    void aFollowerThatIsKilledHasWhatItsNumberSays() throws Exception {
        group = new Group(directory);
        Path follower = group.copy(1);
        Random random = new Random(7);
        TreeMap<Long, String> history = runLeader(group.member(0), 1, random, 250);
        Path file = Files.createDirectory(directory.resolve("batches"));
        for (int i = 0; i < group.batches.size(); i++) {
            Files.write(file.resolve("%06d".formatted(i)), group.batches.get(i));
        }
        for (int round = 0; round < 5; round++) {
            Process child = Stores.start(FollowerProgram.class, follower, file);
            for (int lines = random.nextInt(group.batches.size()); lines >= 0; lines--) {
                child.inputReader().readLine();
            }
            child.destroyForcibly().waitFor();
            try (Store store = Store.openReplica(follower)) {
                ReplicaStore replica = ReplicaStore.of(store.attached());
                if (replica.number() > 0) {
                    assertEquals(history.get(replica.number()), Transaction.read(Group.pile(store)::describe),
                            "round " + round + " at " + replica);
                }
                Stores.check(store);
            }
        }
        try (Store store = Store.openReplica(follower)) {
            ReplicaStore replica = ReplicaStore.of(store.attached());
            replay(replica);
            assertEquals(history.lastEntry().getValue(), Transaction.read(Group.pile(store)::describe));
        }
    }

    /** Records of programs that die reach the followers if the leader's store has them, and in its order. */
    @Test
    void otherProgramsOfTheLeadersMachinePassTheirRecordsThroughTheLog() throws Exception {
        group = new Group(directory);
        Path follower = group.copy(1);
        long transfers;
        try (Store store = Store.openReplica(group.member(0))) {
            ReplicaStore replica = ReplicaStore.of(store.attached());
            group.lead(replica, 1);
            leading(replica, () -> {
                Bank bank = Transaction.call(() -> {
                    Bank made = Bank.create(store.container(Store.MAIN), BankProgram.ACCOUNTS);
                    store.setRoot("bank", made);
                    return made;
                });
                for (int round = 0; round < 2; round++) {
                    try {
                        // Dies after its record is written, and before its number counts.
                        Stores.start(BankProgram.class, group.member(0), "fault", FaultyLog.Fault.DIES_BEHIND_WRITE)
                                .waitFor();
                        Process child = Stores.start(BankProgram.class, group.member(0), round, 3);
                        child.inputReader().readLine();
                        Thread.sleep(150 + 200 * round);
                        child.destroyForcibly().waitFor();
                    } catch (InterruptedException | java.io.IOException e) {
                        throw new AssertionError(e);
                    }
                    Transaction.run(() -> bank.transfer(1, 2, 1));
                }
            });
            transfers = store.root("bank", Bank.class).transfers();
            Stores.check(store);
        }
        try (Store store = Store.openReplica(follower)) {
            replay(ReplicaStore.of(store.attached()));
            Transaction.read(() -> {
                Bank bank = store.root("bank", Bank.class);
                assertEquals(transfers, bank.transfers());
                assertNull(bank.audit(BankProgram.ACCOUNTS));
                return null;
            });
            Stores.check(store);
        }
    }

    /** What programs see that share the leader's store when the process dies that connects it with the group. */
    @Test
    void programsSeeThatTheOneThatReplicatesIsDead() throws Exception {
        group = new Group(directory);
        Process leader = Stores.start(LeaderProgram.class, group.member(0));
        assertEquals("leads", leader.inputReader().readLine());
        try (Store store = Store.open(group.member(0))) {
            Pile pile = store.root("pile", Pile.class);
            Transaction.run(() -> pile.step(new Random(1)));
            leader.destroyForcibly().waitFor();
            OutcomeUnknown unknown =
                    assertThrows(OutcomeUnknown.class, () -> Transaction.run(() -> pile.step(new Random(2))));
            assertEquals(1, unknown.epoch());
            assertThrows(StorageWriteFailure.class, () -> Transaction.run(() -> pile.step(new Random(3))));
        }
        try (Store store = Store.openReplica(group.member(0))) {
            assertEquals(0, ReplicaStore.of(store.attached()).number(), "the group would bring the first one back");
        }
    }

    @Test
    void aBackupOfAMemberIsAStoreAloneAndBeginsAnotherGroup() throws Exception {
        group = new Group(directory);
        TreeMap<Long, String> history = runLeader(group.member(0), 4, new Random(8), 40);
        Path backup = directory.resolve("backup");
        try (Store store = Store.openReplica(group.member(0))) {
            replay(ReplicaStore.of(store.attached()));
            store.attached().backup(backup);
        }
        try (Store store = Store.open(backup)) {
            assertEquals(history.lastEntry().getValue(), Group.pile(store).describe());
            Transaction.run(() -> Group.pile(store).step(new Random(9)));
        }
        ReplicaStore.prepare(backup);
        group.batches.clear();
        TreeMap<Long, String> next = runLeader(backup, 1, new Random(10), 10);
        assertEquals(0, next.firstKey());
        assertTrue(next.lastKey() > 0);
    }

    @Test
    void gapsAreRefused() throws Exception {
        group = new Group(directory);
        Path follower = group.copy(1);
        runLeader(group.member(0), 1, new Random(6), 40);
        try (Store store = Store.openReplica(follower)) {
            ReplicaStore replica = ReplicaStore.of(store.attached());
            replica.take(RecordBatch.decode(group.batches.get(0)), Sender.OTHER);
            replica.take(RecordBatch.decode(group.batches.get(1)), Sender.OTHER);
            long number = replica.number();
            RecordBatch later = RecordBatch.decode(group.batches.get(3));
            assertThrows(StorageReadFailure.class, () -> replica.take(later, Sender.OTHER));
            assertEquals(number, replica.number());
            replica.take(RecordBatch.decode(group.batches.get(1)), Sender.OTHER);
            assertEquals(number, replica.number(), "what it has is not applied again");
            replica.take(RecordBatch.decode(group.batches.get(2)), Sender.OTHER);
            assertTrue(replica.number() > number);
        }
        assertThrows(IllegalArgumentException.class, () -> RecordBatch.decode(new byte[7]));
        byte[] cut = group.batches.get(1);
        assertThrows(IllegalArgumentException.class,
                () -> RecordBatch.decode(java.util.Arrays.copyOf(cut, cut.length - 8)));
    }
}
