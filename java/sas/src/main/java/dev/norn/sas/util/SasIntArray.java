package dev.norn.sas.util;

import dev.norn.sas.store.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/** An array of ints, 4 bytes each, that a transaction uses in place: see {@link SasArray}. */
public final class SasIntArray extends SasArray {
    /** @throws NegativeArraySizeException if the length is */
    public SasIntArray(int length) {
        super(new int[length]);
    }

    /** With a copy of these elements. */
    public SasIntArray(int[] elements) {
        super(elements.clone());
    }

    @Override
    int shift() {
        return 2;
    }

    @Override
    MemorySegment segment(Object elements) {
        return MemorySegment.ofArray((int[]) elements);
    }

    public int get(int index) {
        Object own = $sas$elements;
        if (own != null) {
            return ((int[]) own)[index];
        }
        long at = toRead(index);
        return at != 0 ? Memory.getInt(at) : committed(index, Memory::getInt);
    }

    public void set(int index, int value) {
        Object own = $sas$elements;
        if (own != null) {
            ((int[]) own)[index] = value;
            return;
        }
        long at = toWrite(index);
        if (at != 0) {
            Memory.putInt(at, value);
        } else {
            write(index, 1, place -> Memory.putInt(place, value));
        }
    }

    /** Sets the elements from {@code start} to before {@code end}. */
    public void fill(int start, int end, int value) {
        Object own = $sas$elements;
        if (own != null) {
            Objects.checkFromToIndex(start, end, length());
            Arrays.fill((int[]) own, start, end, value);
            return;
        }
        write(start, end - start, at -> {
            for (long place = at; place < at + ((long) end - start << 2); place += 1 << 2) {
                Memory.putInt(place, value);
            }
        });
    }

    /**
     * Copies {@code count} elements from {@code index} on into a Java array; outside transactions, as of one moment.
     */
    public void copyTo(int index, int[] to, int start, int count) {
        copyOut(index, to, start, count);
    }

    /** Copies {@code count} elements of a Java array over those from {@code index} on. */
    public void copyFrom(int index, int[] from, int start, int count) {
        copyIn(index, from, start, count);
    }

    /** A copy of all elements. */
    public int[] toArray() {
        int[] all = new int[length()];
        copyOut(0, all, 0, all.length);
        return all;
    }
}
