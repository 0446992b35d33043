package dev.norn.sas.util;

import dev.norn.sas.store.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/** An array of longs, 8 bytes each, that a transaction uses in place: see {@link SasArray}. */
public final class SasLongArray extends SasArray {
    /** @throws NegativeArraySizeException if the length is */
    public SasLongArray(int length) {
        super(new long[length]);
    }

    /** With a copy of these elements. */
    public SasLongArray(long[] elements) {
        super(elements.clone());
    }

    @Override
    int shift() {
        return 3;
    }

    @Override
    MemorySegment segment(Object elements) {
        return MemorySegment.ofArray((long[]) elements);
    }

    public long get(int index) {
        Object own = $sas$elements;
        if (own != null) {
            return ((long[]) own)[index];
        }
        long at = toRead(index);
        return at != 0 ? Memory.getLong(at) : committed(index, Memory::getLong);
    }

    public void set(int index, long value) {
        Object own = $sas$elements;
        if (own != null) {
            ((long[]) own)[index] = value;
            return;
        }
        long at = toWrite(index);
        if (at != 0) {
            Memory.putLong(at, value);
        } else {
            write(index, 1, place -> Memory.putLong(place, value));
        }
    }

    /** Sets the elements from {@code start} to before {@code end}. */
    public void fill(int start, int end, long value) {
        Object own = $sas$elements;
        if (own != null) {
            Objects.checkFromToIndex(start, end, length());
            Arrays.fill((long[]) own, start, end, value);
            return;
        }
        write(start, end - start, at -> {
            for (long place = at; place < at + ((long) end - start << 3); place += 1 << 3) {
                Memory.putLong(place, value);
            }
        });
    }

    /**
     * Copies {@code count} elements from {@code index} on into a Java array; outside transactions, as of one moment.
     */
    public void copyTo(int index, long[] to, int start, int count) {
        copyOut(index, to, start, count);
    }

    /** Copies {@code count} elements of a Java array over those from {@code index} on. */
    public void copyFrom(int index, long[] from, int start, int count) {
        copyIn(index, from, start, count);
    }

    /** A copy of all elements. */
    public long[] toArray() {
        long[] all = new long[length()];
        copyOut(0, all, 0, all.length);
        return all;
    }
}
