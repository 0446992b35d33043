package dev.norn.sas.util;

import dev.norn.sas.store.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/** An array of doubles, 8 bytes each, that a transaction uses in place: see {@link SasArray}. */
public final class SasDoubleArray extends SasArray {
    /** @throws NegativeArraySizeException if the length is */
    public SasDoubleArray(int length) {
        super(new double[length]);
    }

    /** With a copy of these elements. */
    public SasDoubleArray(double[] elements) {
        super(elements.clone());
    }

    @Override
    int shift() {
        return 3;
    }

    @Override
    MemorySegment segment(Object elements) {
        return MemorySegment.ofArray((double[]) elements);
    }

    public double get(int index) {
        Object own = $sas$elements;
        if (own != null) {
            return ((double[]) own)[index];
        }
        long at = toRead(index);
        return at != 0 ? Memory.getDouble(at) : committed(index, Memory::getDouble);
    }

    public void set(int index, double value) {
        Object own = $sas$elements;
        if (own != null) {
            ((double[]) own)[index] = value;
            return;
        }
        long at = toWrite(index);
        if (at != 0) {
            Memory.putDouble(at, value);
        } else {
            write(index, 1, place -> Memory.putDouble(place, value));
        }
    }

    /** Sets the elements from {@code start} to before {@code end}. */
    public void fill(int start, int end, double value) {
        Object own = $sas$elements;
        if (own != null) {
            Objects.checkFromToIndex(start, end, length());
            Arrays.fill((double[]) own, start, end, value);
            return;
        }
        write(start, end - start, at -> {
            for (long place = at; place < at + ((long) end - start << 3); place += 1 << 3) {
                Memory.putDouble(place, value);
            }
        });
    }

    /**
     * Copies {@code count} elements from {@code index} on into a Java array; outside transactions, as of one moment.
     */
    public void copyTo(int index, double[] to, int start, int count) {
        copyOut(index, to, start, count);
    }

    /** Copies {@code count} elements of a Java array over those from {@code index} on. */
    public void copyFrom(int index, double[] from, int start, int count) {
        copyIn(index, from, start, count);
    }

    /** A copy of all elements. */
    public double[] toArray() {
        double[] all = new double[length()];
        copyOut(0, all, 0, all.length);
        return all;
    }
}
