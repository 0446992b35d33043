package dev.norn.sas.util;

import dev.norn.sas.Factory;
import dev.norn.sas.Transaction;
import dev.norn.sas.runtime.InPlace;
import dev.norn.sas.runtime.SasObject;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.util.Objects;
import java.util.function.LongFunction;

/**
 * An array of a primitive type, for many elements: a persistent one is used in place. Reading an element costs some
 * loads, and changing one that much of undo and log, however long the array is. A Java array in a persistent field is
 * copied whole by each transaction that uses it. Create it with {@link Factory}, or with {@code new} as a temporary
 * one. Many elements at once are best read and written with {@code copyTo}, {@code copyFrom} and {@code fill}.
 *
 * <p>Its length is fixed, at most 8,388,583 bytes. As with any object, a transaction locks all of it; outside
 * transactions, each call reads what is committed, or is a transaction of its own. All calls throw
 * {@link IndexOutOfBoundsException}, and what accesses to fields throw, but {@link InternalError} where the pool's file
 * is cut off while the array is used. Two arrays are equal if they are the same one.
 */
public abstract sealed class SasArray implements InPlace
        permits SasByteArray, SasIntArray, SasLongArray, SasDoubleArray {
    private final int length;
    /** The elements of a temporary array; null in handles. No field of the persistent object, as its name says. */
    Object $sas$elements;
    private long[] $sas$kept;

    /** Takes over a Java array. */
    SasArray(Object elements) {
        length = Array.getLength(elements);
        $sas$elements = elements;
    }

    /** The number of bytes that an element has is two to the power of this. */
    abstract int shift();

    /** The Java array as bytes. */
    abstract MemorySegment segment(Object elements);

    /** Costs nothing inside a transaction that has used the array. */
    public final int length() {
        return length;
    }

    private SasObject handle() {
        return (SasObject) (Object) this;
    }

    private long place() {
        return Format.offsetOf(handle().$sas$reference());
    }

    /** From the beginning of the object. */
    private long distance(int index) {
        return ELEMENTS + ((long) index << shift());
    }

    /** Where the element is, for reading in the running transaction; 0 outside transactions. */
    final long toRead(int index) {
        long at = InPlace.reading(handle());
        return at == 0 ? 0 : at + distance(Objects.checkIndex(index, InPlace.length(at)));
    }

    /** Reads a committed element. */
    final <T> T committed(int index, LongFunction<T> reading) {
        // The index is looked at later: here, another object may be coming into the place of this one.
        T element = InPlace.committed(handle(),
                at -> index >= 0 && index < InPlace.length(at) ? reading.apply(at + distance(index)) : null);
        if (element == null) {
            Objects.checkIndex(index, length);
        }
        return element;
    }

    /** Where the element is, for writing in the running transaction; 0 if {@link #write} has to prepare that. */
    final long toWrite(int index) {
        long[] kept = $sas$kept;
        if (kept == null || handle().$sas$holder() != Thread.currentThread()) {
            return 0;
        }
        long at = place();
        long distance = distance(Objects.checkIndex(index, InPlace.length(at)));
        return InPlace.has(kept, distance) ? at + distance : 0;
    }

    /** Where elements are, for writing. */
    interface Writing {
        void write(long at);
    }

    /** Writes elements from this index on, in the open transaction or in one of its own. */
    final void write(int index, int count, Writing writing) {
        if (!Transaction.isActive()) {
            Transaction.run(() -> write(index, count, writing));
            return;
        }
        Objects.checkFromIndexSize(index, count, length);
        if (count > 0) {
            InPlace.keep(handle(), distance(index), (long) count << shift());
            writing.write(place() + distance(index));
        }
    }

    final void copyOut(int index, Object to, int start, int count) {
        Object own = $sas$elements;
        if (own != null) {
            System.arraycopy(own, index, to, start, count);
            return;
        }
        Objects.checkFromIndexSize(start, count, Array.getLength(to));
        long at = InPlace.reading(handle());
        boolean isCopied = at != 0 ? copy(at, index, to, start, count)
                : InPlace.committed(handle(), place -> copy(place, index, to, start, count));
        if (!isCopied) {
            Objects.checkFromIndexSize(index, count, length);
        }
    }

    /** Returns false if the array has no such elements. */
    private boolean copy(long at, int index, Object to, int start, int count) {
        if (index < 0 || index > InPlace.length(at) - count) {
            return false;
        }
        long bytes = (long) count << shift();
        MemorySegment.copy(Memory.slice(at + distance(index), bytes), 0, segment(to), (long) start << shift(), bytes);
        return true;
    }

    final void copyIn(int index, Object from, int start, int count) {
        Object own = $sas$elements;
        if (own != null) {
            System.arraycopy(from, start, own, index, count);
            return;
        }
        Objects.checkFromIndexSize(start, count, Array.getLength(from));
        long bytes = (long) count << shift();
        write(index, count,
                at -> MemorySegment.copy(segment(from), (long) start << shift(), Memory.slice(at, bytes), 0, bytes));
    }

    @Override
    public final long[] $sas$kept() {
        return $sas$kept;
    }

    @Override
    public final void $sas$kept(long[] blocks) {
        $sas$kept = blocks;
    }

    @Override
    public final long $sas$bytes() {
        return distance(length);
    }

    @Override
    public final void $sas$write(long offset) {
        MemorySegment own = segment($sas$elements);
        Memory.putInt(offset + LENGTH, (int) (own.byteSize() >> shift()));
        MemorySegment.copy(own, 0, Memory.slice(offset + ELEMENTS, own.byteSize()), 0, own.byteSize());
    }

    @Override
    public final Object $sas$elements() {
        return $sas$elements;
    }

    @Override
    public final void $sas$elements(Object elements) {
        $sas$elements = elements;
    }
}
