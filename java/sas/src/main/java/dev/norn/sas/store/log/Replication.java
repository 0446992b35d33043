package dev.norn.sas.store.log;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.NotLeader;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.PagePool;
import dev.norn.sas.store.memory.WaitQueues;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.locks.LockSupport;

/**
 * What the log of a store does that is in a group of replicas.
 *
 * <p>A leader's record ends with an operation that stores the record's number into the object that
 * {@code REPLICA_STATE} names: so the number is in the same record as the changes, here and at each follower. It is
 * guarded by the latch of the log's end. A record is acknowledged when a majority of the group has it:
 * {@code LOG_SYNCED} says up to where, and nothing is synced here but by checkpoints.
 */
public final class Replication {
    /** What the operation with the number takes. The class has no initializer, which could meet the stack's end. */
    static final int NUMBER_BYTES = 24;
    /** A longer record of a leader is refused. What carries batches has room for one, and for what may be before it. */
    public static final int RECORD_BYTES_MAX = 4 << 20;
    private static final long LOOK_NANOS = 1_000_000;
    /** After so many looks, a waiter looks whether the process lives that replicates. */
    private static final int LOOKS_UNCHECKED = 64;

    private Replication() {}

    /** Whether the store is in a group. */
    public static boolean isOn() {
        return Memory.getVolatile(REPLICA_ROLE) != 0;
    }

    /** Whether it is in a group, and others change it. */
    public static boolean isFollower() {
        return Memory.getVolatile(REPLICA_ROLE) == FOLLOWER;
    }

    /** Whether it leads a group. */
    public static boolean isLeader() {
        return Memory.getVolatile(REPLICA_ROLE) == LEADER;
    }

    /** Whether a store takes changes: one of no group does, and one that leads its group. */
    public static boolean takesChanges(PagePool pool) {
        return Memory.getVolatile(POOL_WRITE_FAILED) == 0 && (!isOn() || isLeader() && hasOwner(pool));
    }

    /** Whether the process lives that connects the store with its group. */
    private static boolean hasOwner(PagePool pool) {
        return pool.attachments().isAlive(Memory.getVolatile(REPLICA_OWNER));
    }

    /** @throws NotLeader if the store has to be opened again before it can lead */
    public static void requireMayLead(PagePool pool) {
        if (Memory.getVolatile(POOL_WRITE_FAILED) == LEADERSHIP_LOST) {
            throw NotLeader.hasLed();
        }
        if (isOn() && !hasOwner(pool)) {
            throw NotLeader.isAlone();
        }
    }

    private static long numberPlace() {
        return offsetOf(Memory.getLong(REPLICA_STATE)) + REPLICA_NUMBER;
    }

    /** The number of the last record. */
    public static long number() {
        return Memory.getVolatile(numberPlace());
    }

    /**
     * Returns the length of a record.
     *
     * @throws StorageWriteFailure if it is a leader's, and longer than the group takes
     */
    static int requireFits(int length) {
        if (length > RECORD_BYTES_MAX && isLeader()) {
            throw new StorageWriteFailure("the transaction's changes take " + length + " bytes, and a store in a group "
                    + "takes " + RECORD_BYTES_MAX + " in one transaction at most: make them in several", null);
        }
        return length;
    }

    /** Room for the number, of which nothing is known yet. */
    static void addNumber(ByteBuffer record) {
        if (isLeader()) {
            Replay.begin(record, Replay.RANGE, numberPlace(), 8);
            record.putLong(0);
        }
    }

    /** With the latch of the log's end. */
    static void setNumber(ByteBuffer record) {
        if (isLeader()) {
            record.putLong(record.position() - 8, number() + 1);
        }
    }

    /** The record is written, and will count. */
    static void countRecord() {
        if (isLeader()) {
            Memory.putVolatile(numberPlace(), number() + 1);
        }
    }

    /** The same for one who died. */
    static void recountRecord(LogFile file, long position, long end) throws IOException {
        if (isLeader()) {
            ByteBuffer number = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
            file.read(number, end - LogRecords.CHECK_BYTES - 8, Memory.getVolatile(LOG_RING));
            Memory.putVolatile(numberPlace(), number.getLong(0));
        }
    }

    /** From where on the ring must not be overwritten. */
    static long oldestNeeded() {
        long base = Memory.getVolatile(LOG_BASE);
        return isLeader() ? Math.min(base, Memory.getVolatile(LOG_SHIPPED)) : base;
    }

    /**
     * Returns when a majority has everything up to {@code end}.
     *
     * @throws dev.norn.sas.exception.NotLeader if this store does not lead any more
     */
    public static void awaitAcknowledged(PagePool pool, RedoLog log, long end) {
        pool.waitQueues().wakeFirst(WaitQueues.SHIP);
        pool.waitQueues().join(WaitQueues.SYNC);
        try {
            for (int looks = 1; Memory.getVolatile(LOG_SYNCED) < end; looks++) {
                log.requireWritable();
                LockSupport.parkNanos(pool, LOOK_NANOS);
                if (looks % LOOKS_UNCHECKED == 0 && !hasOwner(pool)) {
                    pool.loseLeadership();
                }
            }
        } finally {
            pool.waitQueues().leave(WaitQueues.SYNC);
        }
    }

    /** A majority has everything up to {@code end}. */
    public static void acknowledge(PagePool pool, long end) {
        if (Memory.getVolatile(LOG_SYNCED) < end) {
            Memory.putVolatile(LOG_SYNCED, end);
            pool.waitQueues().wakeAll(WaitQueues.SYNC);
        }
    }
}
