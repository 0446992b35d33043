package dev.norn.sas.store.replica;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.Outcome;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.log.Replay;
import dev.norn.sas.store.log.Replication;
import dev.norn.sas.store.memory.MemberFile;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.memory.StoreSettings;
import dev.norn.sas.store.memory.WaitQueues;
import dev.norn.sas.store.transaction.Applier;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A store as a member of a group, in the JVM that connects it with the group. Whatever carries batches gives all
 * members the same ones in the same order, and none before a majority has it.
 *
 * <p>A record has a number, from 1, one more than the one before. The member's number is in an object of the store,
 * which each record changes, too: so containers' files, backups and pools say which records they have. An epoch is the
 * time of one leader; its number grows. A batch counts if it is of the current epoch and follows the member's last
 * record. Others are left out, by all members alike: so what a leader of the past sends late has no effect. An epoch
 * begins with a batch of its own.
 *
 * <pre>
 * role      transactions          begins                          ends
 * FOLLOWER  read-only ones        when it is attached             when its own epoch begins
 * LEADER    all                   when its own epoch begins       when another epoch begins: it takes no more changes
 *                                                                 then, and is to be closed and attached again
 * </pre>
 */
public final class ReplicaStore {
    /** How often a leader looks for records of other programs, and where no other one is attached. */
    private static final long LOOK_NANOS = 100_000;
    private static final long LOOK_ALONE_NANOS = 10_000_000;
    /** The ends of the names of the files that a copy has besides its settings. */
    private static final List<String> COPIED = List.of(".container", StoreFiles.LOG, StoreFiles.UNAPPLIED);

    private final AttachedStore store;
    private final Applier applier;
    private final long state;
    /** Batches that were handed on and not acknowledged: their last numbers, and where they end in the log. */
    private final ArrayDeque<long[]> unacknowledged = new ArrayDeque<>();
    private long position;
    private long handedOn;

    private ReplicaStore(AttachedStore store, long reference) {
        this.store = store;
        applier = new Applier(store);
        state = offsetOf(reference);
    }

    /**
     * Makes a store the first member of a group, from which others are copied. It may be a backup of a member of
     * another group, of which it forgets numbers and epochs. No program uses it. Costs opening and closing it.
     *
     * @throws SASException if it is a member of a group
     */
    public static void prepare(Path directory) throws IOException {
        AttachedStore store = AttachedStore.attach(directory.toAbsolutePath());
        try {
            long known = find(store);
            StoreTransaction transaction = new StoreTransaction(store);
            transaction.begin();
            if (known == 0) {
                transaction.allocate(store.ranges().ofNumber(0), CLASS_REPLICA, REPLICA_BYTES, 0);
            } else {
                transaction.lockExclusive(known);
                Memory.clear(offsetOf(known) + REPLICA_NUMBER, REPLICA_BYTES - REPLICA_NUMBER);
            }
            transaction.commit();
        } finally {
            store.close();
        }
        MemberFile.fresh().write(directory);
    }

    /** Copies a member that was never opened into a new directory, for another member. */
    public static void copy(Path member, Path copy) throws IOException {
        Path first = StoreFiles.firstMissing(copy);
        Files.createDirectories(copy);
        if (StoreFiles.find(copy) != null) {
            throw new SASException(copy + " has files of a store already: a copy needs a new directory");
        }
        try (var files = Files.list(member)) {
            for (Path file : files.filter(one -> COPIED.stream().anyMatch(one.toString()::endsWith)).toList()) {
                StoreFiles.copy(file, copy.resolve(file.getFileName()));
            }
            StoreSettings.read(member).withPool(null).write(copy);
            MemberFile.read(member).write(copy);
        } catch (IOException | RuntimeException e) {
            StoreFiles.remove(copy);
            StoreFiles.removeEmpty(copy, first);
            throw e;
        }
    }

    /** The member that was attached by {@link AttachedStore#attachReplica}, as a follower. */
    public static ReplicaStore of(AttachedStore store) {
        long reference = find(store);
        if (reference == 0) {
            throw new StorageReadFailure("the store " + store + " is no copy of a member of a group", null);
        }
        Memory.putVolatile(REPLICA_STATE, reference);
        Memory.putVolatile(REPLICA_OWNER, store.incarnation());
        Memory.putVolatile(REPLICA_ROLE, FOLLOWER);
        return new ReplicaStore(store, reference);
    }

    /** The object of a member; 0 if there is none. Costs a pass over the container of the directory. */
    private static long find(AttachedStore store) {
        Range system = store.ranges().ofNumber(0);
        for (long page = 0; page < system.pagesUsed(); page++) {
            for (int granule = 0; granule < GRANULES; granule++) {
                long offset = system.pageOffset(page) + (long) granule * GRANULE_BYTES;
                if (system.startsAt(offset) && classOf(Memory.getLong(offset)) == CLASS_REPLICA) {
                    return reference(offset, generationOf(Memory.getLong(offset)));
                }
            }
        }
        return 0;
    }

    /** The number of the last record that the store has. */
    public long number() {
        return Memory.getVolatile(state + REPLICA_NUMBER);
    }

    /** The number of the last record that a majority has, as far as is known here. Who has led may have more. */
    public synchronized long acknowledged() {
        boolean hasLed = Memory.getVolatile(REPLICA_ROLE) == LEADER;
        return hasLed && !unacknowledged.isEmpty() ? unacknowledged.peek()[2] - 1 : hasLed ? handedOn : number();
    }

    /** The current epoch. */
    public long epoch() {
        return Memory.getVolatile(state + REPLICA_EPOCH);
    }

    public boolean isLeader() {
        return Memory.getVolatile(REPLICA_ROLE) == LEADER && Memory.getVolatile(POOL_WRITE_FAILED) == 0;
    }

    /** What became of the transaction with this number in this epoch, as far as this member knows. */
    public synchronized Outcome outcome(long epoch, long number) {
        if (epoch >= epoch()) {
            return epoch == epoch() && number <= acknowledged() ? Outcome.COMMITTED : Outcome.NOT_YET;
        }
        long ended = Memory.getLong(state + REPLICA_ENDED);
        long oldest = Math.max(0, ended - REPLICA_ENDS_MAX);
        for (long i = oldest; i < ended; i++) {
            long its = Memory.getLong(endPlace(i));
            if (its == epoch) {
                return number <= Memory.getLong(endPlace(i) + 8) ? Outcome.COMMITTED : Outcome.UNDONE;
            }
            if (its > epoch && i == oldest && oldest > 0) {
                return Outcome.FORGOTTEN;
            }
        }
        // Nobody has led in it.
        return Outcome.UNDONE;
    }

    /** Where the end of an epoch is: the epoch, and the number of its last record. */
    private long endPlace(long i) {
        return state + REPLICA_ENDS + 16 * (i % REPLICA_ENDS_MAX);
    }

    /** What a member sends that is to lead, before it does. */
    public static RecordBatch beginning(long epoch) {
        return RecordBatch.beginning(epoch);
    }

    /** Who has sent a batch. */
    public enum Sender {
        /** This member, since it was attached. */
        SELF,
        /** Another one, or this one before. */
        OTHER
    }

    /**
     * Takes the next batch, of which a majority has a copy.
     *
     * @throws StorageReadFailure if records are missing between the member's and these: nothing was applied
     * @throws StorageWriteFailure if this member led, and another epoch began; nothing is applied until it is attached
     *     again
     */
    public synchronized void take(RecordBatch batch, Sender sender) {
        requireAlive();
        if (batch.isBeginning()) {
            begin(batch.epoch(), sender);
            return;
        }
        if (batch.epoch() != epoch()) {
            return;
        }
        if (isLeader()) {
            acknowledge(batch.last());
            return;
        }
        if (batch.first() > number() + 1) {
            throw new StorageReadFailure("the store " + store + " has record " + number() + ", and the next one that "
                    + "comes is " + batch.first(), null);
        }
        for (int i = 0; i < batch.records().size(); i++) {
            if (batch.first() + i > number()) {
                applier.apply(batch.records().get(i).duplicate().order(ByteOrder.LITTLE_ENDIAN));
            }
        }
    }

    private void requireAlive() {
        if (Memory.getVolatile(POOL_WRITE_FAILED) != 0) {
            throw new StorageWriteFailure("the member " + store + " takes nothing more from its group: close it and "
                    + "open it again", null);
        }
    }

    /** An epoch that this member has seen begin, before it was attached again, changes nothing. */
    private void begin(long epoch, Sender sender) {
        if (epoch <= epoch()) {
            return;
        }
        store.pages().loseLeadership();
        requireAlive();
        long ended = Memory.getLong(state + REPLICA_ENDED);
        ByteBuffer change = ByteBuffer.allocate(2 * Replay.operationBytes(16) + 16).order(ByteOrder.LITTLE_ENDIAN);
        Replay.begin(change, Replay.RANGE, endPlace(ended), 16);
        change.putLong(epoch()).putLong(number());
        Replay.begin(change, Replay.RANGE, state + REPLICA_EPOCH, 16);
        change.putLong(epoch).putLong(ended + 1);
        applier.apply(change.flip());
        if (sender == Sender.SELF) {
            lead();
        }
    }

    private void lead() {
        position = Memory.getVolatile(LOG_TAIL);
        handedOn = number();
        Memory.putVolatile(LOG_SHIPPED, position);
        Memory.putVolatile(REPLICA_ROLE, LEADER);
    }

    /** Another one leads, or may: nothing that was not acknowledged is acknowledged any more. */
    public synchronized void lose() {
        store.pages().loseLeadership();
    }

    /**
     * The next records of a leader, of all programs that use the store: as many as there are, up to about as many
     * bytes. Null if none comes in time, or this member does not lead. Called by one thread.
     */
    public RecordBatch next(long bytesMax, long waitNanos) throws IOException {
        if (!hasNext()) {
            awaitNext(waitNanos);
        }
        return hasNext() && isLeader() ? read(bytesMax) : null;
    }

    private static boolean hasNext() {
        return Memory.getVolatile(LOG_TAIL) != Memory.getVolatile(LOG_SHIPPED);
    }

    /** Programs of this JVM wake it; what others append is seen by looking again and again. */
    private void awaitNext(long waitNanos) {
        long end = System.nanoTime() + waitNanos;
        boolean isAlone = store.livingProcesses() == 1;
        store.pages().waitQueues().join(WaitQueues.SHIP);
        try {
            while (isLeader() && !hasNext() && System.nanoTime() < end) {
                LockSupport.parkNanos(this, isAlone ? LOOK_ALONE_NANOS : LOOK_NANOS);
            }
        } finally {
            store.pages().waitQueues().leave(WaitQueues.SHIP);
        }
    }

    private synchronized RecordBatch read(long bytesMax) throws IOException {
        // The ring may have become longer, while it was empty: then positions continue elsewhere.
        position = Math.max(position, Memory.getVolatile(LOG_SHIPPED));
        List<ByteBuffer> records = new ArrayList<>();
        long next = store.readLog(position, bytesMax, operations -> records.add(copy(operations)));
        RecordBatch batch = new RecordBatch(epoch(), handedOn + 1, records);
        for (int i = 0; i < records.size(); i++) {
            requireNumber(records.get(i), handedOn + 1 + i);
        }
        position = next;
        handedOn = batch.last();
        unacknowledged.add(new long[] {batch.last(), next, batch.first()});
        Memory.putVolatile(LOG_SHIPPED, next);
        return batch;
    }

    private static ByteBuffer copy(ByteBuffer operations) {
        byte[] bytes = new byte[operations.remaining()];
        operations.duplicate().get(bytes);
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void requireNumber(ByteBuffer operations, long expected) {
        long number = operations.getLong(operations.limit() - 8);
        if (number != expected) {
            throw new StorageReadFailure("the log of " + store + " has record " + number + " in the place of "
                    + expected, null);
        }
    }

    private void acknowledge(long last) {
        while (!unacknowledged.isEmpty() && unacknowledged.peek()[0] <= last) {
            Replication.acknowledge(store.pages(), unacknowledged.poll()[1]);
        }
    }

    /**
     * Copies the store as of one moment into a new directory, with what is acknowledged then; brings its own files up
     * to there, too. The copy can become another member.
     */
    public void backup(Path copy) throws IOException {
        store.backup(copy);
    }

    /** Brings the containers' files up to what is acknowledged: a member that is attached again begins there. */
    public void checkpoint() {
        store.checkpoint();
    }

    @Override
    public String toString() {
        return store + ", " + (isLeader() ? "leader" : "follower") + " of epoch " + epoch() + ", record " + number();
    }
}
