package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.TransactionSlot;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a snapshot knows of the undo streams of running transactions: where each has the image of an object. A stream is
 * read on from where it was read before, so each entry is visited once. Belongs to one reader. The reader asks
 * afterwards whether the slot still holds the object: then what it found is of that transaction.
 */
final class UndoImages {
    private final Stream[] streams = new Stream[SLOTS_MAX];

    /** The entry of the image that the slot's transaction has of the object; 0 if it has none. */
    long imageOf(int slot, long reference) {
        return find(read(slot).images, reference);
    }

    /** Whether the slot's transaction has made the object. */
    boolean isNew(int slot, long reference) {
        return find(read(slot).made, reference) != 0;
    }

    private static long find(Map<Long, Long> entries, long reference) {
        long entry = entries.getOrDefault(offsetOf(reference), 0L);
        boolean isIts = entry != 0
                && generationOf(Memory.getLong(entry + ENTRY_HEADER_BYTES)) == generationOfReference(reference);
        return isIts ? entry : 0;
    }

    /** Entries with parts of the large object at this offset, the oldest first. */
    List<Long> partsOf(int slot, long offset, long bytes) {
        List<Long> parts = new ArrayList<>();
        Stream stream = read(slot);
        for (int i = 0; i < stream.partCount; i++) {
            long entry = stream.parts[i];
            long part = TransactionSlot.offset(entry);
            if (TransactionSlot.kind(entry) == ENTRY_RANGE && part >= offset && part < offset + bytes) {
                parts.add(entry);
            }
        }
        return parts;
    }

    private Stream read(int slot) {
        for (;;) {
            long count = count(slot);
            Stream stream = streams[slot] != null && streams[slot].count == count ? streams[slot] : new Stream(count);
            streams[slot] = stream;
            stream.readOn(slot);
            VarHandle.loadLoadFence();
            if (count(slot) == count) {
                return stream;
            }
            // What was read may be of the next transaction.
            streams[slot] = null;
        }
    }

    private static long count(int slot) {
        return Memory.getVolatile(slotHead(slot) + SLOT_COUNT);
    }

    /** The entries of one transaction. */
    private static final class Stream {
        final long count;
        private long read;
        final Map<Long, Long> images = new HashMap<>();
        final Map<Long, Long> made = new HashMap<>();
        private long[] parts = new long[0];
        private int partCount;

        Stream(long count) {
            this.count = count;
        }

        void readOn(int slot) {
            long tail = Memory.getVolatile(slotHead(slot) + SLOT_TAIL);
            for (long entry; read < tail; read = TransactionSlot.next(entry) - undo(slot)) {
                entry = undo(slot) + read;
                if (TransactionSlot.kind(entry) == ENTRY_IMAGE) {
                    images.putIfAbsent(TransactionSlot.offset(entry), entry);
                } else if (TransactionSlot.kind(entry) == ENTRY_ALLOCATION) {
                    made.put(TransactionSlot.offset(entry), entry);
                } else if (TransactionSlot.kind(entry) == ENTRY_RANGE) {
                    addPart(entry);
                }
            }
        }

        private void addPart(long entry) {
            if (partCount == parts.length) {
                parts = Arrays.copyOf(parts, Math.max(16, 2 * partCount));
            }
            parts[partCount++] = entry;
        }
    }
}
