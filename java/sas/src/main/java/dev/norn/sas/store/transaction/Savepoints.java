package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.TransactionSlot;
import java.util.Arrays;

/**
 * What a transaction keeps so that a part of it can be taken back while the rest continues. The undo stream has the
 * image of an object as it was before the transaction; this has, of what is changed again after a savepoint, images as
 * of the savepoint. They are in this JVM's memory: another process that undoes the transaction of a dead process needs
 * the stream alone.
 *
 * <p>To take back what came after a savepoint is to restore these images, the newest first, then those that the stream
 * has got since, and then to free what was allocated since. Locks stay, and so do entries of images, since their
 * objects stay locked; those of allocations and frees are marked as done. So the whole can be undone at any moment of
 * this.
 *
 * <p>An object is kept once for each savepoint that it is changed after; what its own savepoint no longer needs goes
 * when that ends.
 */
final class Savepoints {
    private static final int IMAGES_FIRST = 64;
    private static final int RANGE = -1;

    private final AttachedStore store;
    private int depth;
    /**
     * Of each open savepoint: where the stream was, how many images there were, and a number that no other savepoint of
     * this transaction, or of one before, has.
     */
    private long[] marks = new long[4];
    private int[] firsts = new int[4];
    private long[] numbers = new long[4];
    private long lastNumber;
    /**
     * Of each object's place: the number of the last savepoint since which its image was taken, here or in the stream.
     */
    private long[] covered = {};

    private int images;
    private long[] offsets = {};
    private byte[][] contents = {};
    /** The object's place, or {@link #RANGE}. */
    private int[] places = {};
    /** What {@link #covered} was. */
    private long[] before = {};

    Savepoints(AttachedStore store) {
        this.store = store;
    }

    /** A transaction begins. */
    void clear() {
        depth = 0;
        forget(0);
    }

    boolean isOpen() {
        return depth > 0;
    }

    /** Opens a savepoint, inside those that are open. */
    void open(long mark) {
        if (depth == marks.length) {
            marks = Arrays.copyOf(marks, 2 * depth);
            firsts = Arrays.copyOf(firsts, 2 * depth);
            numbers = Arrays.copyOf(numbers, 2 * depth);
        }
        marks[depth] = mark;
        firsts[depth] = images;
        numbers[depth] = ++lastNumber;
        depth++;
    }

    /** The stream has got what undoes all changes of the object since the last savepoint. */
    void cover(int place) {
        coverable(place);
        covered[place] = numbers[depth - 1];
    }

    private void coverable(int place) {
        if (place >= covered.length) {
            covered = Arrays.copyOf(covered, Math.max(place + 1, 2 * covered.length));
        }
    }

    /**
     * Comes before the object is changed, which is locked exclusively: keeps its image, unless it has one since the
     * last savepoint. Of large objects that is the first word.
     */
    void keep(int place, long offset) {
        coverable(place);
        if (covered[place] >= numbers[depth - 1]) {
            return;
        }
        int bytes = granulesOf(Memory.getLong(offset)) * GRANULE_BYTES;
        add(place, offset, bytes > OBJECT_BYTES_MAX ? 8 : bytes);
        covered[place] = numbers[depth - 1];
    }

    /**
     * Comes before a part of a large object is changed, of which the stream has an image of before the last savepoint.
     */
    void keepRange(long offset, int bytes) {
        add(RANGE, offset, bytes);
    }

    private void add(int place, long offset, int bytes) {
        if (images == offsets.length) {
            int length = Math.max(IMAGES_FIRST, 2 * images);
            contents = Arrays.copyOf(contents, length);
            places = Arrays.copyOf(places, length);
            before = Arrays.copyOf(before, length);
            offsets = Arrays.copyOf(offsets, length);
        }
        contents[images] = Memory.bytes(offset, bytes);
        offsets[images] = offset;
        places[images] = place;
        before[images] = place == RANGE ? 0 : covered[place];
        images++;
    }

    /** Closes the last savepoint; what came after it is now part of what came after the one before. */
    void release() {
        depth--;
        int kept = firsts[depth];
        for (int i = kept; i < images && depth > 0; i++) {
            boolean isNeeded = places[i] == RANGE || before[i] < numbers[depth - 1];
            if (isNeeded) {
                contents[kept] = contents[i];
                offsets[kept] = offsets[i];
                places[kept] = places[i];
                before[kept++] = before[i];
            }
        }
        forget(kept);
    }

    private void forget(int first) {
        if (first < images) {
            Arrays.fill(contents, first, images, null);
            images = first;
        }
    }

    /** Closes the last savepoint and takes back what came after it. The transaction has to be undone if this throws. */
    void restore(TransactionSlot slot) {
        depth--;
        for (int i = images - 1; i >= firsts[depth]; i--) {
            restore(i);
        }
        forget(firsts[depth]);
        // As for the whole: nothing is freed while a list may name it.
        Recovery.restoreImages(slot, marks[depth]);
        for (long entry = slot.newest(); entry >= slot.first() + marks[depth]; entry = TransactionSlot.before(entry)) {
            giveBack(slot, entry);
        }
    }

    private void restore(int image) {
        int place = places[image];
        byte[] content = contents[image];
        if (place == RANGE) {
            Memory.copyIn(content, 0, offsets[image], content.length);
            return;
        }
        // All but the lock.
        Memory.copyIn(content, 0, offsets[image], 8);
        if (content.length > OBJECT_HEADER_BYTES) {
            Memory.copyIn(content, OBJECT_HEADER_BYTES, offsets[image] + OBJECT_HEADER_BYTES,
                    content.length - OBJECT_HEADER_BYTES);
        }
        covered[place] = before[image];
    }

    private void giveBack(TransactionSlot slot, long entry) {
        switch (TransactionSlot.kind(entry)) {
            case ENTRY_ALLOCATION -> takeBackAllocation(slot, entry);
            case ENTRY_CONTAINER -> {
                store.recovery().giveBack(slot, entry);
                TransactionSlot.markDone(entry);
            }
            case ENTRY_FREE -> TransactionSlot.markDone(entry);
            default -> {
                // A lock or an image, which stay.
            }
        }
    }

    /**
     * The transaction has a lock on the object to its end: what it looks at there has to say that the object is gone.
     * An allocation that was cut off has made none.
     */
    private void takeBackAllocation(TransactionSlot slot, long entry) {
        long offset = TransactionSlot.offset(entry);
        if (store.isObject(reference(offset, generationOf(Memory.getLong(entry + ENTRY_HEADER_BYTES))))) {
            Memory.putLong(offset, Memory.getLong(offset) | DESTROYED);
        }
        forgetParts(slot, entry);
        store.recovery().giveBack(slot, entry);
    }

    /**
     * Of a large object whose making is taken back, no part is to be restored or logged: its place will be another's.
     */
    private static void forgetParts(TransactionSlot slot, long allocation) {
        long offset = TransactionSlot.offset(allocation);
        long bytes = (long) granulesOf(Memory.getLong(allocation + ENTRY_HEADER_BYTES)) * GRANULE_BYTES;
        for (long entry = bytes > OBJECT_BYTES_MAX ? slot.newest() : 0; entry > allocation;
                entry = TransactionSlot.before(entry)) {
            long part = TransactionSlot.offset(entry);
            if (TransactionSlot.kind(entry) == ENTRY_RANGE && part >= offset && part < offset + bytes) {
                TransactionSlot.markDone(entry);
            }
        }
    }

    /**
     * Takes back allocations of objects and values since a place in the stream, and what was to be freed. What they
     * have to do with objects that were there is the caller's: nothing refers to them yet, and what was to be freed is
     * still referred to. A class that got its number meanwhile keeps it.
     */
    void takeBackSteps(TransactionSlot slot, long mark) {
        for (long entry = slot.newest(); entry >= slot.first() + mark; entry = TransactionSlot.before(entry)) {
            boolean isOfClass = TransactionSlot.kind(entry) == ENTRY_ALLOCATION
                    && classOf(Memory.getLong(entry + ENTRY_HEADER_BYTES)) == CLASS_ENTRY;
            if (TransactionSlot.kind(entry) == ENTRY_FREE) {
                TransactionSlot.markDone(entry);
            } else if (TransactionSlot.kind(entry) == ENTRY_ALLOCATION && !isOfClass) {
                takeBackAllocation(slot, entry);
            }
        }
    }
}
