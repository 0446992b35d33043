package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.heap.DirectoryFormat.DIRECTORY;
import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SnapshotTooOld;
import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.heap.DirectoryReader;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.heap.RangeTable;
import dev.norn.sas.store.log.Unsynced;
import dev.norn.sas.store.memory.Backoff;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.OwnMemory;
import dev.norn.sas.store.memory.TransactionSlot;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The store as of one position of the log, for one reader: what the records up to there have committed, and nothing of
 * others. Takes no locks, no latches and no slot. Belongs to a thread.
 *
 * <p>The state of an object at the snapshot's position is in one of three places:
 *
 * <pre>
 * 1. in the ring of versions         a commit after the position has changed it: of these, the first one's version
 * 2. in an undo stream               a transaction holds it exclusively that is not committed, or after the position
 * 3. where the object is             otherwise
 * </pre>
 *
 * They are asked in the order 3, 2, 1, and the last one that knows the object wins: a commit puts its versions into the
 * ring before it releases its locks, so what is found in 3 or 2 is the snapshot's if there is no version after that.
 */
public final class Snapshot implements AutoCloseable {
    /** What {@link #find} returns of an object that is not there. */
    private static final long ABSENT = 0;
    /** The same of one that was changed while it was read. */
    private static final long DISTURBED = -1;
    private static final int SPINS_CHECKED = 2 * Backoff.SPINS;

    private final AttachedStore store;
    /** Up to here, records count. */
    private final long position;
    /** Where the versions begin that this snapshot may need. */
    private final long firstVersion;
    private final OwnMemory memory = new OwnMemory();
    private final UndoImages undo = new UndoImages();
    private final OffsetTable numbers = new OffsetTable();
    private final Map<Long, byte[]> values = new HashMap<>();
    /** Where the copies of objects are, by their numbers; numbers are from 1. */
    private long[] images = new long[64];
    private int count;

    /** Of what is committed now. Costs an atomic instruction for the first snapshot of this JVM. */
    Snapshot(AttachedStore store) {
        this.store = store;
        store.requireOpen();
        store.snapshotReaders().enter();
        // In this order: a commit that is not among the records keeps versions after the head as it is here.
        firstVersion = Versions.head();
        position = Memory.getVolatile(LOG_TAIL);
    }

    public AttachedStore store() {
        return store;
    }

    /** Ends it. Waits for nobody. */
    @Override
    public void close() {
        memory.clear();
        store.snapshotReaders().leave();
    }

    /**
     * Waits until what was read is durable, which it is already, except where a sync is under way.
     *
     * @throws dev.norn.sas.exception.StorageWriteFailure if the sync fails
     */
    public void awaitDurable() {
        if (Memory.getVolatile(LOG_SYNCED) < position) {
            store.awaitDurableUpTo(position);
        }
    }

    /** The number of an object that was read, from 1; 0 if it was not read. */
    public int numberOf(long reference) {
        return numbers.get(reference);
    }

    /**
     * Where a copy of the object is that has its state, header included; its lock word has no meaning.
     *
     * @throws ObjectDestroyed if it was not there
     * @throws SnapshotTooOld if its state is gone
     */
    public long image(long reference) {
        int number = numbers.get(reference);
        return number != 0 ? images[number - 1] : read(reference);
    }

    private long read(long reference) {
        long image = copy(reference);
        if (image == ABSENT || isDestroyed(Memory.getLong(image))) {
            throw RangeTable.destroyed(reference);
        }
        if (count == images.length) {
            images = java.util.Arrays.copyOf(images, 2 * count);
        }
        images[count++] = image;
        numbers.put(reference, count);
        return image;
    }

    /** The bytes of a value that a field's word names. */
    public byte[] value(long word) {
        long reference = word & ~TAG_MASK;
        byte[] known = values.get(reference);
        if (known == null) {
            long image = copy(reference);
            if (image == ABSENT) {
                throw RangeTable.destroyed(reference);
            }
            known = Memory.bytes(image + VALUE_HEADER_BYTES, lengthOf(Memory.getLong(image)));
            memory.keepFirst(image, 0);
            values.put(reference, known);
        }
        return known;
    }

    private long copy(long reference) {
        if (offsetOf(reference) < CONTAINERS) {
            throw RangeTable.destroyed(reference);
        }
        Range range = store.ranges().find(offsetOf(reference));
        if (range != null) {
            range.check();
        }
        try {
            for (int spins = 0;; spins++) {
                long image = range == null ? ABSENT : find(range, reference);
                if (image == DISTURBED) {
                    awaitUndoing(reference, spins);
                    continue;
                }
                VarHandle.loadLoadFence();
                image = olderVersion(reference, image);
                if (!Versions.areWholeSince(firstVersion)) {
                    throw new SnapshotTooOld("since this read-only transaction began, others have changed more than "
                            + "the " + (VERSIONS_BYTES >> 20) + " MB of which the store keeps what was before: read "
                            + "less in one, or run it again");
                }
                store.requireAttached();
                return image;
            }
        } catch (RuntimeException e) {
            store.requireAttached();
            throw e;
        }
    }

    /**
     * Another transaction has come to its end meanwhile; or is undoing what it did to a large object, which takes no
     * steps of the program, but may have been stopped in it.
     */
    private void awaitUndoing(long reference, int spins) {
        Backoff.pause(spins);
        if (spins % SPINS_CHECKED == SPINS_CHECKED - 1) {
            store.recovery().reap();
            // Throws if that takes as long as locks are waited for.
            store.locks().quiet(reference);
        }
    }

    /** A copy of the object where it is now, or from the undo stream of who changes it. */
    private long find(Range range, long reference) {
        long offset = offsetOf(reference);
        if (!store.isObject(reference)) {
            return ABSENT;
        }
        long header = Memory.getLong(offset);
        if (generationOf(header) != generationOfReference(reference)) {
            return DISTURBED;
        }
        if (classOf(header) == CLASS_VALUE) {
            long image = copyOf(offset, VALUE_HEADER_BYTES + lengthOf(header));
            return isStillObject(reference, header) ? image : DISTURBED;
        }
        long bytes = (long) granulesOf(header) * GRANULE_BYTES;
        if (bytes > OwnMemory.pieceBytesMax()) {
            return DISTURBED;
        }
        long lock = Memory.getVolatile(offset + OBJECT_LOCK);
        return lock < 0 ? findLocked(reference, header, bytes, lock) : findQuiet(reference, header, bytes, lock);
    }

    private boolean isStillObject(long reference, long header) {
        VarHandle.loadLoadFence();
        return store.isObject(reference)
                && (Memory.getLong(offsetOf(reference)) | DESTROYED) == (header | DESTROYED);
    }

    private long copyOf(long offset, long bytes) {
        long image = memory.take(bytes);
        Memory.copy(offset, image, bytes);
        return image;
    }

    private long findQuiet(long reference, long header, long bytes, long lock) {
        long unsynced = Unsynced.of(offsetOf(reference));
        long image = copyOf(offsetOf(reference), bytes);
        boolean isStill = store.isStill(reference, Locks.countOf(lock)) && isStillObject(reference, header)
                && Unsynced.of(offsetOf(reference)) == unsynced;
        return isStill ? image : disturbed(image);
    }

    private long disturbed(long image) {
        memory.keepFirst(image, 0);
        return DISTURBED;
    }

    private long findLocked(long reference, long header, long bytes, long lock) {
        long holders = lock & LOCK_HOLDERS;
        if (holders == 0) {
            return DISTURBED;
        }
        int slot = Long.numberOfTrailingZeros(holders);
        long state = Memory.getVolatile(slotHead(slot) + SLOT_STATE);
        if (state == STATE_ABORTING || state == STATE_UNDONE) {
            // Its undoing has no steps of the program.
            return bytes > OBJECT_BYTES_MAX || undo.imageOf(slot, reference) == 0 ? DISTURBED
                    : imageHeldBy(slot, reference, lock);
        }
        boolean isCommitted = (state == STATE_COMMITTING || state == STATE_COMMITTED)
                && Memory.getVolatile(slotHead(slot) + SLOT_RECORD_END) <= position;
        long image = isCommitted ? copyOf(offsetOf(reference), bytes)
                : bytes > OBJECT_BYTES_MAX ? largeImage(slot, reference, bytes)
                : smallImage(slot, reference, bytes);
        boolean isStill = isHeld(reference, lock)
                && (isCommitted || !isUndoing(Memory.getVolatile(slotHead(slot) + SLOT_STATE)));
        return isStill || image == DISTURBED ? image : DISTURBED;
    }

    private static boolean isUndoing(long state) {
        return state == STATE_ABORTING || state == STATE_UNDONE;
    }

    private long imageHeldBy(int slot, long reference, long lock) {
        long entry = undo.imageOf(slot, reference);
        long image = copyOf(entry + ENTRY_HEADER_BYTES,
                (long) granulesOf(Memory.getLong(entry + ENTRY_HEADER_BYTES)) * GRANULE_BYTES);
        return isHeld(reference, lock) ? image : disturbed(image);
    }

    /** Whether the object is held exclusively by the same slot as a moment ago, all the time. */
    private boolean isHeld(long reference, long lock) {
        VarHandle.loadLoadFence();
        long now = Memory.getVolatile(offsetOf(reference) + OBJECT_LOCK);
        return now < 0 && (now & LOCK_HOLDERS) == (lock & LOCK_HOLDERS) && Locks.countOf(now) == Locks.countOf(lock)
                && store.isObject(reference);
    }

    private long smallImage(int slot, long reference, long bytes) {
        long entry = undo.imageOf(slot, reference);
        if (entry == 0 && !undo.isNew(slot, reference)) {
            // The image is published before the first change.
            long image = copyOf(offsetOf(reference), bytes);
            VarHandle.loadLoadFence();
            entry = undo.imageOf(slot, reference);
            if (entry == 0) {
                return image;
            }
            memory.keepFirst(image, 0);
        }
        return entry == 0 ? ABSENT : copyOf(entry + ENTRY_HEADER_BYTES, bytes);
    }

    /** What the object has now, and over it what its holder has kept before it changed parts, the newest first. */
    private long largeImage(int slot, long reference, long bytes) {
        if (undo.isNew(slot, reference)) {
            return ABSENT;
        }
        long image = copyOf(offsetOf(reference), bytes);
        VarHandle.loadLoadFence();
        Memory.putLong(image, Memory.getLong(image) & ~DESTROYED);
        for (long entry : undo.partsOf(slot, offsetOf(reference), bytes).reversed()) {
            Memory.copy(entry + ENTRY_HEADER_BYTES, image + TransactionSlot.offset(entry) - offsetOf(reference),
                    TransactionSlot.length(entry));
        }
        return image;
    }

    /**
     * What versions say that commits after the position have left, and else the image. Versions of an object are in
     * their chain in the order of commits, so the last that is found is the first commit's.
     */
    private long olderVersion(long reference, long image) {
        long offset = offsetOf(reference);
        List<Long> parts = null;
        long whole = 0;
        long before = Long.MAX_VALUE;
        for (long at = Versions.newest(reference); at >= firstVersion && at < before;) {
            before = at;
            long version = Versions.at(at);
            if (Memory.getLong(version + VERSION_REFERENCE) == reference
                    && Memory.getLong(version + VERSION_UNTIL) > position) {
                if (Memory.getLong(version + VERSION_AT) == offset) {
                    whole = version;
                } else {
                    parts = parts == null ? new ArrayList<>() : parts;
                    parts.add(version);
                }
            }
            at = Memory.getLong(version + VERSION_BEFORE);
        }
        long base = whole == 0 ? image : copyOf(whole);
        for (int i = 0; parts != null && base != ABSENT && i < parts.size(); i++) {
            putPart(parts.get(i), reference, base);
        }
        return base;
    }

    private long copyOf(long version) {
        long length = Memory.getLong(version + VERSION_LENGTH);
        // What is overwritten meanwhile may be anything; that is found out afterwards.
        return length <= 0 || length > OwnMemory.pieceBytesMax() ? ABSENT
                : copyOf(version + VERSION_HEADER_BYTES, length);
    }

    private static void putPart(long version, long reference, long image) {
        long distance = Memory.getLong(version + VERSION_AT) - offsetOf(reference);
        long length = Memory.getLong(version + VERSION_LENGTH);
        long bytes = (long) granulesOf(Memory.getLong(image)) * GRANULE_BYTES;
        if (distance >= 0 && length >= 0 && distance + length <= bytes) {
            Memory.copy(version + VERSION_HEADER_BYTES, image + distance, length);
        }
    }

    /** The entries of a list of the directory, newest first. */
    public List<DirectoryEntry> entries(DirectoryEntry.Kind kind) {
        List<DirectoryEntry> entries = new ArrayList<>();
        for (long next = Memory.getLong(image(DIRECTORY) + kind.head()); next != 0;) {
            entries.add(DirectoryReader.entry(next, image(next)));
            next = DirectoryReader.next(image(next));
        }
        return entries;
    }

    /** The entry with this name; null if there is none. */
    public DirectoryEntry entry(DirectoryEntry.Kind kind, String name) {
        return entries(kind).stream().filter(entry -> entry.name().equals(name)).findFirst().orElse(null);
    }
}
