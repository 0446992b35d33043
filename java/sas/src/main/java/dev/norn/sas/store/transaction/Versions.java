package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.memory.Latch;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.PagePool;
import dev.norn.sas.store.memory.TransactionSlot;
import java.util.TreeMap;

/**
 * What objects and values were before commits changed or freed them, for {@link Snapshot}s: in a ring in shared memory,
 * in chains by a hash of the offset, the newest first. A commit that has its place in the log puts versions here before
 * it releases its first lock, if anybody reads a snapshot. The oldest are overwritten when the ring is full, and nobody
 * waits for readers.
 *
 * <pre>
 * position of the version before it in the chain | reference | until | length | offset | content, padded to 8 bytes
 *   until    the end of the record of the commit: the version is what a snapshot of an earlier position has
 *   length   0: the object was not there
 *   offset   of the content: the reference's, or inside of a large object, of which only a part was changed
 * </pre>
 *
 * <p>Positions only grow. A version is at its position modulo the ring's length, and whole there as long as the head is
 * no further than that length after it: the head is moved before the versions are written.
 */
final class Versions {
    /** The first position: 0 ends a chain. */
    private static final long FIRST = VERSION_HEADER_BYTES;
    private static final long BACKED_STEP = 1 << 20;

    private final PagePool pool;

    Versions(PagePool pool) {
        this.pool = pool;
    }

    /** Whether a process reads a snapshot. */
    static boolean areWanted() {
        return Memory.getVolatile(SNAPSHOTS) != 0;
    }

    static long head() {
        return Math.max(FIRST, Memory.getVolatile(VERSIONS_HEAD));
    }

    /** Whether all versions are whole that were put in the ring since the head was there. */
    static boolean areWholeSince(long head) {
        return head() - head <= VERSIONS_BYTES;
    }

    /** The position of the newest version of objects with this one's hash; 0 if there is none. */
    static long newest(long reference) {
        return Memory.getVolatile(chain(reference));
    }

    private static long chain(long reference) {
        return CHAINS + (offsetOf(reference) / GRANULE_BYTES * 0x9E3779B97F4A7C15L >>> 64 - CHAINS_BITS) * 8;
    }

    /** Where in memory the version with this position is. */
    static long at(long position) {
        return VERSIONS + position % VERSIONS_BYTES;
    }

    /**
     * Keeps versions of what the slot's transaction has changed and freed, whose record ends here. Costs a load if
     * nobody reads a snapshot; else a copy of each image. Doing it twice is harmless.
     */
    void keep(TransactionSlot slot, long until) {
        if (areWanted()) {
            Latch.hold(slot, VERSIONS_LATCH, () -> keepLatched(slot, until));
        }
    }

    private long keepLatched(TransactionSlot slot, long until) {
        Space space = new Space(head(), until);
        space.add(slot);
        if (!space.reserve()) {
            return 0;
        }
        space.add(slot);
        return space.position;
    }

    /** Visits a slot's entries twice: to see how many bytes they need, and to write them. */
    private final class Space {
        private final long start;
        private final long until;
        private long position;
        private boolean isWriting;
        /** The large objects that the transaction has locked exclusively, by their offsets. */
        private final TreeMap<Long, Long> large = new TreeMap<>();

        Space(long start, long until) {
            this.start = start;
            this.until = until;
            position = start;
        }

        /** Moves the head after all of it; returns false if nothing can be written, and all snapshots are too old. */
        private boolean reserve() {
            isWriting = true;
            boolean isOneRound = start / VERSIONS_BYTES == (position - 1) / VERSIONS_BYTES;
            boolean fits = position - start <= VERSIONS_BYTES
                    && back(isOneRound ? (position - 1) % VERSIONS_BYTES + 1 : VERSIONS_BYTES);
            Memory.putVolatile(VERSIONS_HEAD, fits ? position : start + 2 * VERSIONS_BYTES);
            position = start;
            return fits;
        }

        private boolean back(long needed) {
            for (long backed = Memory.getLong(VERSIONS_BACKED); backed < needed;) {
                long length = Math.min(BACKED_STEP, VERSIONS_BYTES - backed);
                if (!pool.tryBack(VERSIONS + backed, length)) {
                    // The disk is full. That is the readers' trouble, and not the transaction's.
                    return false;
                }
                backed += length;
                Memory.putVolatile(VERSIONS_BACKED, backed);
            }
            return true;
        }

        private void add(TransactionSlot slot) {
            for (long entry = slot.first(); entry < slot.end(); entry = TransactionSlot.next(entry)) {
                long offset = TransactionSlot.offset(entry);
                long content = entry + ENTRY_HEADER_BYTES;
                switch (TransactionSlot.kind(entry)) {
                    case ENTRY_IMAGE -> addImage(offset, content, TransactionSlot.length(entry));
                    case ENTRY_ALLOCATION -> addAllocation(offset, Memory.getLong(content));
                    case ENTRY_RANGE -> addPart(offset, content, TransactionSlot.length(entry));
                    case ENTRY_FREE -> addFreed(offset, Memory.getLong(content));
                    default -> {
                        // A lock, a container, or what was taken back.
                    }
                }
            }
        }

        private void addImage(long offset, long content, int length) {
            long header = Memory.getLong(content);
            if (granulesOf(header) * GRANULE_BYTES > OBJECT_BYTES_MAX) {
                large.put(offset, reference(offset, generationOf(header)));
            } else {
                add(reference(offset, generationOf(header)), offset, content, length);
            }
        }

        private void addAllocation(long offset, long header) {
            if (classOf(header) != CLASS_VALUE) {
                large.remove(offset);
                add(reference(offset, generationOf(header)), offset, 0, 0);
            }
        }

        /** A part of a large object that was there before. */
        private void addPart(long offset, long content, int length) {
            var object = large.floorEntry(offset);
            if (object != null
                    && offset < object.getKey() + granulesOf(Memory.getLong(object.getKey())) * (long) GRANULE_BYTES) {
                add(object.getValue(), offset, content, length);
            }
        }

        /** Of a small object, there is an image. Of a large one, parts come on top of what it has last. */
        private void addFreed(long offset, long header) {
            boolean isValue = classOf(header) == CLASS_VALUE;
            int length = isValue ? VALUE_HEADER_BYTES + lengthOf(header) : granulesOf(header) * GRANULE_BYTES;
            if (isValue || length > OBJECT_BYTES_MAX) {
                long at = add(reference(offset, generationOf(header)), offset, offset, length);
                if (isWriting) {
                    Memory.putLong(at + VERSION_HEADER_BYTES, header);
                }
            }
        }

        private long add(long reference, long offset, long content, int length) {
            long bytes = VERSION_HEADER_BYTES + (length + 7L & ~7L);
            if (position % VERSIONS_BYTES + bytes > VERSIONS_BYTES) {
                position += VERSIONS_BYTES - position % VERSIONS_BYTES;
            }
            long its = position;
            position += bytes;
            return isWriting ? write(its, reference, offset, content, length) : 0;
        }

        private long write(long its, long reference, long offset, long content, int length) {
            long at = at(its);
            Memory.putLong(at + VERSION_BEFORE, newest(reference));
            Memory.putLong(at + VERSION_REFERENCE, reference);
            Memory.putLong(at + VERSION_UNTIL, until);
            Memory.putLong(at + VERSION_LENGTH, length);
            Memory.putLong(at + VERSION_AT, offset);
            Memory.copy(content, at + VERSION_HEADER_BYTES, length);
            Memory.putVolatile(chain(reference), its);
            return at;
        }
    }
}
