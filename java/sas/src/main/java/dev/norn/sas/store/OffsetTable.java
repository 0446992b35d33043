package dev.norn.sas.store;

import java.util.Arrays;

/** A hash table from offsets to small numbers that is emptied at no cost, for what a transaction holds. A number is never 0. */
final class OffsetTable {
    private long[] keys = new long[64];
    private int[] numbers = new int[64];
    private int[] stamps = new int[64];
    private int stamp = 1;
    private int size;

    void clear() {
        stamp++;
        size = 0;
    }

    private int place(long key) {
        int mask = keys.length - 1;
        int at = (int) ((key >>> 4) * 0x9E3779B97F4A7C15L >>> 40) & mask;
        while (stamps[at] == stamp && keys[at] != key) {
            at = at + 1 & mask;
        }
        return at;
    }

    /** The number of the key; 0 if it is not there. */
    int get(long key) {
        int at = place(key);
        return stamps[at] == stamp ? numbers[at] : 0;
    }

    void put(long key, int number) {
        int at = place(key);
        if (stamps[at] != stamp) {
            if (2 * ++size > keys.length) {
                grow();
                at = place(key);
            }
            stamps[at] = stamp;
            keys[at] = key;
        }
        numbers[at] = number;
    }

    private void grow() {
        long[] oldKeys = keys;
        int[] oldNumbers = numbers;
        int[] oldStamps = stamps;
        int old = stamp;
        keys = new long[2 * oldKeys.length];
        numbers = new int[keys.length];
        stamps = new int[keys.length];
        stamp = 1;
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldStamps[i] == old) {
                int at = place(oldKeys[i]);
                keys[at] = oldKeys[i];
                numbers[at] = oldNumbers[i];
                stamps[at] = 1;
            }
        }
    }

    @Override
    public String toString() {
        return size + " of " + Arrays.toString(keys);
    }
}
