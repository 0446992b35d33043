package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * Orders the entries of {@code SasMap}s anew after keys that hash by address have moved, in the stored bytes: the trie of a map that has such a key is built again, from new
 * nodes. Where entries hang depends on the hash codes that they keep.
 */
final class MapOrder {
    private static final String UTIL = "dev.norn.sas.util.";
    private static final int LEVEL_BITS = 4;
    private static final int HASH_BITS = 32;
    private static final int SLOTS = 1 << LEVEL_BITS;

    private final Pool pool;
    private final Slot slot;
    private final LongPredicate hashesByAddress;
    private int map;
    private int node;
    private int entry;
    private int treeNode;
    private int treeLeft;
    private int treeRight;
    private int treeValue;
    private int root;
    private int hash;
    private int next;
    private int key;
    private int nodeBytes;
    private final int[] slots = new int[SLOTS];

    MapOrder(Pool pool, Slot slot, Map<Integer, Layout> layouts, LongPredicate hashesByAddress) {
        this.pool = pool;
        this.slot = slot;
        this.hashesByAddress = hashesByAddress;
        layouts.forEach((number, layout) -> {
            switch (layout.name()) {
                case UTIL + "SasMap" -> {
                    map = number;
                    root = offset(layout, "SasMap.root");
                }
                case UTIL + "SasMap$Entry" -> {
                    entry = number;
                    hash = offset(layout, "SasMap$Entry.hash");
                    next = offset(layout, "SasMap$Entry.next");
                    key = offset(layout, "MapEntry.key");
                }
                case UTIL + "SasSortedMap$Node" -> {
                    treeNode = number;
                    treeLeft = offset(layout, "SasSortedMap$Node.left");
                    treeRight = offset(layout, "SasSortedMap$Node.right");
                    treeValue = offset(layout, "MapEntry.value");
                }
                case UTIL + "Slots" -> {
                    node = number;
                    nodeBytes = layout.bytes();
                    for (int i = 0; i < SLOTS; i++) {
                        slots[i] = offset(layout, "Slots.slot" + i);
                    }
                }
                default -> {
                    // A class of the program.
                }
            }
        });
    }

    private static int offset(Layout layout, String field) {
        return layout.fields().get(UTIL + field).offset();
    }

    /** Whether the store has a map with an entry. */
    boolean isNeeded() {
        return map != 0 && entry != 0;
    }

    /** Orders the map at this offset, if it is one and has to be. */
    void visit(Range range, long at, long header) {
        if (classOf(header) != map) {
            return;
        }
        List<Long> nodes = new ArrayList<>();
        List<Long> entries = new ArrayList<>();
        collect(Memory.getLong(at + root), nodes, entries);
        boolean isOrdered = true;
        for (long its : entries) {
            isOrdered &= !renew(its);
        }
        if (isOrdered) {
            return;
        }
        nodes.forEach(old -> discard(range, old));
        long top = newNode(range, at);
        Memory.putLong(at + root, top);
        for (long its : entries) {
            Memory.putLong(its + next, 0);
        }
        for (long its : entries) {
            insert(range, offsetOf(top), its);
        }
    }

    /** Frees a node; one of a tree has a copy of a key. */
    private void discard(Range range, long old) {
        long copy = classOf(Memory.getLong(old)) == treeNode ? Memory.getLong(old + key) : 0;
        if ((copy & TAG_MASK) == TAG_VALUE) {
            Heap.discard(range, offsetOf(copy));
        }
        Heap.discard(range, old);
    }

    private void collect(long word, List<Long> nodes, List<Long> entries) {
        if (!pool.isObject(word)) {
            return;
        }
        long at = offsetOf(word);
        int its = classOf(Memory.getLong(at));
        if (its == node || its == treeNode) {
            nodes.add(at);
            for (int field : its == node ? slots : new int[] {treeLeft, treeRight, treeValue}) {
                collect(Memory.getLong(at + field), nodes, entries);
            }
            return;
        }
        for (long entryWord = word; pool.isObject(entryWord); entryWord = Memory.getLong(offsetOf(entryWord) + next)) {
            entries.add(offsetOf(entryWord));
        }
    }

    /** Gives the entry the hash code that its key has now; whether it is another. */
    private boolean renew(long its) {
        long word = Memory.getLong(its + key);
        if (word == 0 || (word & TAG_MASK) != TAG_OBJECT || !pool.isObject(word) || !hashesByAddress.test(word)) {
            return false;
        }
        int fresh = dev.norn.sas.runtime.References.hashOfAddress(word) * 0x9E3779B9;
        boolean isOther = fresh != Memory.getInt(its + hash);
        Memory.putInt(its + hash, fresh);
        return isOther;
    }

    private long newNode(Range range, long near) {
        slot.begin(slot.index);
        long reference = pool.heap().allocate(slot, range, node, nodeBytes, near);
        Memory.putLong(offsetOf(reference) + OBJECT_LOCK, 0);
        return reference;
    }

    private int field(int code, int level) {
        return slots[code >>> HASH_BITS - LEVEL_BITS * (level + 1) & SLOTS - 1];
    }

    /** As {@code SasMap} does it: entries of one hash code follow one another, those of others go down until the codes part. Where many follow, its next {@code put} makes a tree. */
    private void insert(Range range, long top, long its) {
        int code = Memory.getInt(its + hash);
        long at = top;
        for (int level = 0;; level++) {
            long place = at + field(code, level);
            long there = Memory.getLong(place);
            if (there == 0 || classOf(Memory.getLong(offsetOf(there))) == entry && Memory.getInt(offsetOf(there) + hash) == code) {
                Memory.putLong(its + next, there);
                Memory.putLong(place, reference(its, generationOf(Memory.getLong(its))));
                return;
            }
            if (classOf(Memory.getLong(offsetOf(there))) != node) {
                long below = newNode(range, top);
                Memory.putLong(offsetOf(below) + field(Memory.getInt(offsetOf(there) + hash), level + 1), there);
                Memory.putLong(place, below);
                there = below;
            }
            at = offsetOf(there);
        }
    }
}
