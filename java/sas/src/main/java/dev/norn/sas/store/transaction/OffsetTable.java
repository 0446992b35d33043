package dev.norn.sas.store.transaction;

import dev.norn.sas.store.memory.Format;
import java.util.Arrays;

/**
 * A hash table from references to small numbers that is emptied at no cost, for what a transaction holds. A number is
 * never 0.
 */
final class OffsetTable {
    private static final int FIRST_PLACES = 256;
    private static final int STAMP_SHIFT = 32;

    /**
     * A key, then its stamp and number in one word: a look-up touches one line of the cache. An entry counts if its
     * stamp is the table's.
     */
    private long[] words = new long[2 * FIRST_PLACES];
    /** Of what is in the table now; 0 is that of words never used. */
    int stamp = 1;
    private int size;

    void clear() {
        if (++stamp == 0) {
            Arrays.fill(words, 0);
            stamp = 1;
        }
        if (words.length > 8 * FIRST_PLACES && 32 * size < words.length) {
            // One large transaction is not to spread all later ones over its table.
            words = new long[words.length / 2];
        }
        size = 0;
    }

    private int place(long key) {
        int mask = words.length - 1;
        int at = first(key) << 1 & mask;
        while (stampAt(at) == stamp && words[at] != key) {
            at = at + 2 & mask;
        }
        return at;
    }

    /** Objects of a page are beside each other, as those are that were made one after the other; pages are anywhere. */
    private static int first(long key) {
        int page = (int) ((key >>> Format.PAGE_BITS) * 0x9E3779B97F4A7C15L >>> 32);
        return page + (int) (key >>> 4 & Format.GRANULES - 1);
    }

    private int stampAt(int place) {
        return (int) (words[place + 1] >>> STAMP_SHIFT);
    }

    /** The number of the key; 0 if it is not there. */
    int get(long key) {
        int at = place(key);
        return stampAt(at) == stamp ? (int) words[at + 1] : 0;
    }

    void put(long key, int number) {
        int at = place(key);
        if (stampAt(at) != stamp) {
            if (8 * ++size > words.length) {
                grow();
                at = place(key);
            }
        }
        set(at, key, number);
    }

    private void set(int at, long key, int number) {
        words[at] = key;
        words[at + 1] = (long) stamp << STAMP_SHIFT | number;
    }

    private void grow() {
        long[] old = words;
        words = new long[2 * old.length];
        for (int i = 0; i < old.length; i += 2) {
            if ((int) (old[i + 1] >>> STAMP_SHIFT) == stamp) {
                set(place(old[i]), old[i], (int) old[i + 1]);
            }
        }
    }

    @Override
    public String toString() {
        return size + " of " + words.length / 2;
    }
}
