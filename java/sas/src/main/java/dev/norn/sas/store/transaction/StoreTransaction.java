package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.NotLeader;
import dev.norn.sas.exception.ObjectAccessDenied;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.heap.Allocator;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.heap.RangeTable;
import dev.norn.sas.store.log.RedoRecord;
import dev.norn.sas.store.log.Replication;
import dev.norn.sas.store.log.Unsynced;
import dev.norn.sas.store.memory.Latch;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.TransactionSlot;

/**
 * One transaction's work on the store: strict two-phase locks on objects, images of what is changed, allocations, and
 * the redo record at the end. Not thread-safe; belongs to the thread that began it. May be used again after its end.
 */
public final class StoreTransaction {
    /** In {@link #held}, the lowest bits of a number; above them is the object's place. */
    private static final int SHARED = 1;
    private static final int EXCLUSIVE = 2;
    private static final int MODE_BITS = 2;
    private static final int MODE_MASK = (1 << MODE_BITS) - 1;

    private final AttachedStore store;
    /** By reference, generation included: a dangling one is not taken for what is there now. */
    private final OffsetTable held = new OffsetTable();
    private int places;
    private final Savepoints savepoints;
    private TransactionSlot slot;
    private final Tenant tenant;
    private final RedoRecord record = new RedoRecord();
    /** Up to where the log has to be durable before any caller gets what this transaction has read. */
    private long awaited;
    private final Contention contention;
    private boolean mayRunAgain;
    /** Whether it does what a leader's transaction has done, which is acknowledged. */
    private boolean isApplying;
    /** Of the record of a group's leader; 0 if there is none. */
    private long number;
    /** What was locked exclusively for a read, as it is likely to be changed, and was not changed yet; 0 if nothing. */
    private long guessed;

    /**
     * The owner of a transaction, so that the transaction can be undone when its thread has ended without ending it.
     * Its text names the owner.
     */
    public interface Tenant {
        /** Whether the thread may still continue the transaction. */
        boolean isAlive();

        /** Does what precedes and follows when another thread undoes the transaction. */
        void evict(Runnable undo);
    }

    /** Of somebody who lives as long as this JVM. */
    public StoreTransaction(AttachedStore store) {
        this(store, null);
    }

    public StoreTransaction(AttachedStore store, Tenant tenant) {
        this.store = store;
        this.tenant = tenant;
        savepoints = new Savepoints(store);
        contention = new Contention(store.locks());
    }

    public AttachedStore store() {
        return store;
    }

    /**
     * Begins; waits while as many transactions run as there are slots.
     *
     * @throws NotLeader if the store follows the leader of a group
     */
    public void begin() {
        if (Replication.isFollower()) {
            throw NotLeader.follows(store.toString());
        }
        isApplying = false;
        beginAny();
    }

    /** Begins a transaction that does what a leader's has done. */
    void beginApplying() {
        isApplying = true;
        beginAny();
    }

    private void beginAny() {
        held.clear();
        places = 0;
        awaited = 0;
        mayRunAgain = false;
        savepoints.clear();
        slot = tenant == null ? store.slots().claim() : store.slots().claim(tenant);
        slot.begin(slot.index);
    }

    public boolean isActive() {
        return slot != null;
    }

    /** The transaction's place among those that run now, from 0. */
    public int place() {
        return slot.index;
    }

    /** How many objects the transaction has locked: each has a place of its own below this, in the order of locking. */
    public int places() {
        return places;
    }

    /** The place of an object that the transaction has locked; -1 if it has not. */
    public int placeOf(long reference) {
        int number = held.get(reference);
        return number == 0 ? -1 : number >>> MODE_BITS;
    }

    private int hold(long reference, int mode) {
        awaited = Math.max(awaited, Unsynced.of(offsetOf(reference)));
        held.put(reference, places << MODE_BITS | mode);
        return places++;
    }

    /**
     * Locks the object for reading until the end; costs an atomic instruction and some loads, or a look into a table if
     * it is locked already.
     *
     * @return the object's place
     * @throws dev.norn.sas.exception.ObjectDestroyed if it is not there
     * @throws dev.norn.sas.exception.TransactionConflict on deadlock or timeout
     */
    public int lockShared(long reference) {
        try {
            return takeShared(reference);
        } catch (dev.norn.sas.exception.ObjectDestroyed e) {
            hasSeenAll();
            throw e;
        }
    }

    private int takeShared(long reference) {
        long offset = offsetOf(reference);
        int number = held.get(reference);
        if (number != 0) {
            requireLive(reference);
            return number >>> MODE_BITS;
        }
        if (offset < CONTAINERS) {
            throw RangeTable.destroyed(reference);
        }
        Range range = store.ranges().of(offset);
        range.check();
        if (mayRunAgain && guessed == 0 && contention.isExpected(reference) && range.isWritable
                && !store.isReadOnly()) {
            int place = lockExclusive(reference);
            guessed = reference;
            return place;
        }
        announce(offset);
        store.locks().shared(slot, reference);
        return hold(reference, SHARED);
    }

    /**
     * The transaction is run again after a conflict, so it may lock exclusively what others have changed after they had
     * read it. One that is not run again only has the locks that it needs: its program may count on reading beside
     * others.
     *
     * @param attempt from 1
     */
    public void mayRunAgain(int attempt) {
        mayRunAgain = true;
        if (attempt == 1) {
            contention.forget();
        }
    }

    /** Whether the transaction has locked the object for writing. */
    public boolean hasExclusively(long reference) {
        return (held.get(reference) & MODE_MASK) == EXCLUSIVE;
    }

    private void requireLive(long reference) {
        long header = Memory.getLong(offsetOf(reference));
        if (isDestroyed(header) || generationOf(header) != generationOfReference(reference)) {
            throw RangeTable.destroyed(reference);
        }
    }

    private void announce(long offset) {
        slot.append(ENTRY_LOCK, offset, 0);
        slot.publish(0);
    }

    /**
     * Locks the object for writing until the end, and keeps its image for undoing. Objects beyond
     * {@link Format#OBJECT_BYTES_MAX} have no image: there, {@link #touch} comes before every store.
     *
     * @return the object's place
     * @throws ObjectAccessDenied if the container is read-only
     */
    public int lockExclusive(long reference) {
        try {
            return takeExclusive(reference);
        } catch (dev.norn.sas.exception.ObjectDestroyed e) {
            hasSeenAll();
            throw e;
        }
    }

    private int takeExclusive(long reference) {
        long offset = offsetOf(reference);
        int number = held.get(reference);
        int place = number >>> MODE_BITS;
        if ((number & MODE_MASK) == EXCLUSIVE) {
            requireLive(reference);
            if (reference == guessed) {
                guessed = 0;
            }
            if (savepoints.isOpen()) {
                savepoints.keep(place, offset);
            }
            return place;
        }
        if (offset < CONTAINERS) {
            throw RangeTable.destroyed(reference);
        }
        Range range = store.ranges().of(offset);
        range.check();
        requireWritable(range);
        if (number == 0) {
            announce(offset);
        }
        exclusive(reference, number != 0);
        int bytes = granulesOf(Memory.getLong(offset)) * GRANULE_BYTES;
        int image = Math.min(bytes, bytes > OBJECT_BYTES_MAX ? OBJECT_HEADER_BYTES : bytes);
        Memory.copy(offset, slot.append(ENTRY_IMAGE, offset, image), image);
        slot.publish(image);
        if (number == 0) {
            return holdExclusively(reference);
        }
        held.put(reference, place << MODE_BITS | EXCLUSIVE);
        cover(place);
        return place;
    }

    private void exclusive(long reference, boolean isUpgrade) {
        try {
            store.locks().exclusive(slot, reference);
        } catch (dev.norn.sas.exception.TransactionConflict e) {
            if (isUpgrade) {
                contention.note(reference);
            }
            throw e;
        }
    }

    private int holdExclusively(long reference) {
        int place = hold(reference, EXCLUSIVE);
        cover(place);
        return place;
    }

    private void cover(int place) {
        if (savepoints.isOpen()) {
            savepoints.cover(place);
        }
    }

    /**
     * Comes before a reference is stored: its object is there, and is this transaction's or committed. Waits, as for a
     * shared lock, for a transaction that has made it and has not ended. So what is durable names only what was durably
     * allocated, and a generation that only undone allocations had may be given out again after the machine stopped.
     *
     * @throws dev.norn.sas.exception.ObjectDestroyed if it is not there
     */
    public void requireStorable(long reference) {
        if (offsetOf(reference) < CONTAINERS) {
            throw RangeTable.destroyed(reference);
        }
        long lock = Memory.getVolatile(offsetOf(reference) + OBJECT_LOCK);
        if (Locks.isOfFirstHolder(lock, slot) || !store.isObject(reference)) {
            lockShared(reference);
        }
    }

    private void requireWritable(Range range) {
        if (store.isReadOnly()) {
            throw new ObjectAccessDenied("the store " + store + " is on a read-only file system");
        }
        if (!range.isWritable) {
            throw new ObjectAccessDenied("container " + range.name + " is read-only");
        }
    }

    /**
     * Keeps words of an object without an image for undoing, before they are overwritten: both numbers are multiples of
     * 8. The object is locked exclusively.
     */
    public void touch(long offset, int length) {
        if ((offset & 7) != 0 || (length & 7) != 0) {
            throw new AssertionError(length + " bytes from " + offset + " on are no words");
        }
        Memory.copy(offset, slot.append(ENTRY_RANGE, offset, length), length);
        slot.publish(length);
    }

    /**
     * As {@link #touch}, of words that were kept before the last savepoint, and whose images since then are needed to
     * return to it.
     */
    public void keepRange(long offset, int length) {
        savepoints.keepRange(offset, length);
    }

    /**
     * Opens a savepoint, inside those that are open. An object that is changed after it has to be locked exclusively
     * again, and touched or kept again.
     */
    public void openSavepoint() {
        savepoints.open(slot.tail());
    }

    /** Closes the last savepoint; nothing is taken back. */
    public void releaseSavepoint() {
        savepoints.release();
    }

    /**
     * Closes the last savepoint, and takes back what came after it. Locks stay. If this throws, the transaction has to
     * be undone.
     */
    public void returnToSavepoint() {
        savepoints.restore(slot);
    }

    /** Where the transaction is now, for {@link #takeBackSteps}. */
    public long mark() {
        return slot.tail();
    }

    /**
     * Takes back what was allocated, and what was to be freed, since the mark, except classes that have got their
     * numbers. Stores into objects that were there are not taken back: none of them may refer to what was allocated.
     */
    public void takeBackSteps(long mark) {
        savepoints.takeBackSteps(slot, mark);
    }

    /** Whether stores into the object have to be preceded by {@link #touch}. */
    public static boolean isTouched(long offset) {
        return granulesOf(Memory.getLong(offset)) * GRANULE_BYTES > OBJECT_BYTES_MAX;
    }

    /**
     * Allocates an object of zeros, locked exclusively.
     *
     * @param bytes its length, header included
     * @param near a reference of an object beside which it should lie, in the same container; or 0
     * @return its reference, with tag 0
     * @throws dev.norn.sas.exception.ContainerFull if there is no room
     */
    public long allocate(Range range, int classNumber, long bytes, long near) {
        range.check();
        requireWritable(range);
        long reference = store.allocator().allocate(slot, range, classNumber, bytes, offsetOf(near));
        if (classNumber != CLASS_VALUE) {
            holdExclusively(reference);
        }
        return reference;
    }

    /** As {@link #allocate}, where the leader's transaction has made it, and with its first word. */
    void allocateAt(Range range, long offset, long header) {
        store.allocator().allocateAt(slot, range, offset, header);
        if (classOf(header) != CLASS_VALUE) {
            holdExclusively(reference(offset, generationOf(header)));
        }
    }

    /** Allocates a value beside an object: bytes that never change and that one field owns. */
    public long allocateValue(byte[] bytes, long near) {
        Range range = store.ranges().of(offsetOf(near));
        long reference = allocate(range, CLASS_VALUE, VALUE_HEADER_BYTES + bytes.length, near);
        Memory.copyIn(bytes, 0, offsetOf(reference) + VALUE_HEADER_BYTES, bytes.length);
        return reference | TAG_VALUE;
    }

    /**
     * Gives an object that this transaction has just allocated, with room after its fields, a hash code of its own.
     */
    public static void keepHash(long reference, int hash) {
        long offset = offsetOf(reference);
        long header = Memory.getLong(offset) | HASHED;
        Memory.putInt(hashPlace(offset, header), hash);
        Memory.putLong(offset, header);
    }

    /** The bytes of a value. */
    public static byte[] value(long reference) {
        long offset = offsetOf(reference);
        return Memory.bytes(offset + VALUE_HEADER_BYTES, lengthOf(Memory.getLong(offset)));
    }

    /** Destroys an object, which is locked exclusively; its storage is free after the commit. */
    public void destroy(long reference) {
        lockExclusive(reference);
        long offset = offsetOf(reference);
        freeAtCommit(offset);
        Memory.putLong(offset, Memory.getLong(offset) | DESTROYED);
    }

    /** Frees a value at the commit. Its owner is locked exclusively. */
    public void freeValue(long reference) {
        freeAtCommit(offsetOf(reference));
    }

    private void freeAtCommit(long offset) {
        Memory.putLong(slot.append(ENTRY_FREE, offset, Allocator.CONTENT_BYTES), Memory.getLong(offset) & ~DESTROYED);
        slot.publish(Allocator.CONTENT_BYTES);
    }

    /** Says that the container is new, so that the record makes its file. */
    void addContainer(Range range) {
        byte[] name = range.name.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        int length = 12 + name.length;
        long content = slot.append(ENTRY_CONTAINER, range.base, length);
        Memory.putInt(content, range.id);
        Memory.putLong(content + 4, range.pagesMax);
        Memory.copyIn(name, 0, content + 12, name.length);
        slot.publish(length);
    }

    /** The container that an entry of {@link #addContainer} says was made. */
    static Range madeContainer(long entry) {
        long content = entry + ENTRY_HEADER_BYTES;
        byte[] name = Memory.bytes(content + 12, TransactionSlot.length(entry) - 12);
        return new Range(Memory.getInt(content), new String(name, java.nio.charset.StandardCharsets.UTF_8),
                TransactionSlot.offset(entry), Memory.getLong(content + 4), true);
    }

    /**
     * Commits. Releases the locks as soon as the record has its place in the log, and returns when it is durable, and
     * with it all that the transaction has read: at once when nothing was changed and all that was read is durable.
     *
     * @throws dev.norn.sas.exception.StorageWriteFailure if there is no place for the record: the transaction is undone
     *     then; or if the log cannot be made durable: then the store takes no more changes, and after the next start
     *     the log decides
     */
    public void commit() {
        try {
            commitRecord();
        } finally {
            record.release();
        }
    }

    private void commitRecord() {
        record.clear();
        for (long entry = slot.first(); entry < slot.end(); entry = TransactionSlot.next(entry)) {
            record.add(entry);
        }
        boolean hasChanges = !record.isEmpty();
        number = 0;
        if (hasChanges) {
            awaited = append();
            number = Replication.isLeader() ? record.number() : 0;
        }
        try {
            if (hasChanges) {
                // A slot whose process dies in here has a record that counts, and is recovered from its beginning.
                store.recovery().markChanged(slot, awaited);
            }
            slot.state(STATE_COMMITTED);
            store.recovery().finish(slot);
        } catch (Throwable e) {
            // It counts; recovery gives back what it had.
            abandon();
        }
        try {
            awaitDurable();
        } catch (dev.norn.sas.exception.TransactionConflict e) {
            if (!hasChanges) {
                throw e;
            }
            // It is not to be run again: its record counts.
            throw new dev.norn.sas.exception.StorageWriteFailure(
                    "the transaction is committed, but not known to be durable: " + e.getMessage(), e);
        } finally {
            if (slot != null) {
                end();
            }
        }
        store.logHasGrown();
    }

    /** Waits for what was changed and read; in the slot, unless that was left to recovery. */
    private void awaitDurable() {
        if (isApplying) {
            Replication.acknowledge(store.pages(), awaited);
        } else if (number != 0) {
            store.awaitAcknowledged(awaited, number);
        } else if (slot == null) {
            store.awaitDurableUpTo(awaited);
        } else {
            store.log().sync(slot, awaited);
        }
    }

    /** The transaction has seen the object without locking it: it ends when that is durable. */
    void hasSeen(long reference) {
        awaited = Math.max(awaited, Unsynced.of(offsetOf(reference)));
    }

    /** The transaction has seen the effect of an unknown transaction. */
    private void hasSeenAll() {
        awaited = Memory.getVolatile(LOG_TAIL);
    }

    /** Returns the position after the record. When this throws, the transaction was undone, or is left to recovery. */
    private long append() {
        try {
            return store.log().append(slot, record.complete());
        } catch (Throwable e) {
            // Whatever was thrown, a record that counts does so.
            if (!isCounted()) {
                abort();
                throw e;
            }
            return Memory.getLong(slot.head + SLOT_RECORD_END);
        }
    }

    private boolean isCounted() {
        try {
            Latch.recover(slot);
            return slot.state() == STATE_COMMITTING;
        } catch (java.io.IOException e) {
            abandon();
            throw new dev.norn.sas.exception.StorageReadFailure("cannot see whether a transaction is in the log of "
                    + store + ": " + e.getMessage(), e);
        } catch (Throwable e) {
            abandon();
            throw e;
        }
    }

    /** Undoes everything, and releases the locks. */
    public void abort() {
        try {
            undo();
            end();
        } catch (java.io.IOException e) {
            abandon();
            throw new dev.norn.sas.exception.StorageReadFailure("cannot undo a transaction in " + store + ": "
                    + e.getMessage(), e);
        } catch (Throwable e) {
            abandon();
            throw e;
        }
    }

    private void undo() throws java.io.IOException {
        if (slot.owner() != store.incarnation()) {
            // The slot was given back, and a later step failed.
            return;
        }
        Latch.recover(slot);
        if (slot.state() == STATE_COMMITTED) {
            // Its end failed, and to leave it to recovery failed as well.
            store.recovery().finish(slot);
        } else {
            store.recovery().undo(slot);
        }
    }

    /** Leaves the slot, in the state that it is in, to recovery: this thread continues without it. */
    private void abandon() {
        if (slot != null) {
            store.slots().abandon(slot.index);
            slot = null;
            store.wakeCheckpointer();
        }
    }

    private void end() {
        if (guessed != 0) {
            contention.wasNotChanged(guessed);
            guessed = 0;
        }
        store.slots().release(slot);
        slot = null;
    }
}
