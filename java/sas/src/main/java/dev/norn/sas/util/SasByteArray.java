package dev.norn.sas.util;

import dev.norn.sas.store.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/** An array of bytes, 1 byte each, that a transaction uses in place: see {@link SasArray}. */
public final class SasByteArray extends SasArray {
    /** @throws NegativeArraySizeException if the length is */
    public SasByteArray(int length) {
        super(new byte[length]);
    }

    /** With a copy of these elements. */
    public SasByteArray(byte[] elements) {
        super(elements.clone());
    }

    @Override
    int shift() {
        return 0;
    }

    @Override
    MemorySegment segment(Object elements) {
        return MemorySegment.ofArray((byte[]) elements);
    }

    public byte get(int index) {
        Object own = $sas$elements;
        if (own != null) {
            return ((byte[]) own)[index];
        }
        long at = toRead(index);
        return at != 0 ? Memory.getByte(at) : committed(index, Memory::getByte);
    }

    public void set(int index, byte value) {
        Object own = $sas$elements;
        if (own != null) {
            ((byte[]) own)[index] = value;
            return;
        }
        long at = toWrite(index);
        if (at != 0) {
            Memory.putByte(at, value);
        } else {
            write(index, 1, place -> Memory.putByte(place, value));
        }
    }

    /** Sets the elements from {@code start} to before {@code end}. */
    public void fill(int start, int end, byte value) {
        Object own = $sas$elements;
        if (own != null) {
            Objects.checkFromToIndex(start, end, length());
            Arrays.fill((byte[]) own, start, end, value);
            return;
        }
        write(start, end - start, at -> {
            for (long place = at; place < at + ((long) end - start << 0); place += 1 << 0) {
                Memory.putByte(place, value);
            }
        });
    }

    /**
     * Copies {@code count} elements from {@code index} on into a Java array; outside transactions, as of one moment.
     */
    public void copyTo(int index, byte[] to, int start, int count) {
        copyOut(index, to, start, count);
    }

    /** Copies {@code count} elements of a Java array over those from {@code index} on. */
    public void copyFrom(int index, byte[] from, int start, int count) {
        copyIn(index, from, start, count);
    }

    /** A copy of all elements. */
    public byte[] toArray() {
        byte[] all = new byte[length()];
        copyOut(0, all, 0, all.length);
        return all;
    }
}
