package dev.norn.sas.example;

import dev.norn.sas.util.SasArray;
import dev.norn.sas.util.SasByteArray;
import dev.norn.sas.util.SasDoubleArray;
import dev.norn.sas.util.SasIntArray;
import dev.norn.sas.util.SasLongArray;
import java.lang.reflect.Array;
import java.util.function.IntFunction;

/**
 * The arrays of all types through one face, for a test that does the same with each. Values are small enough to be
 * bytes.
 */
record ArrayInPlace(SasArray array) {
    /** The types, by their arrays. */
    enum Type {
        BYTE(SasByteArray.class, SasByteArray::new, byte.class, 1),
        INT(SasIntArray.class, SasIntArray::new, int.class, 4),
        LONG(SasLongArray.class, SasLongArray::new, long.class, 8),
        DOUBLE(SasDoubleArray.class, SasDoubleArray::new, double.class, 8);

        final Class<? extends SasArray> array;
        /** Makes a temporary one. */
        final IntFunction<SasArray> make;
        final Class<?> element;
        final int bytes;

        Type(Class<? extends SasArray> array, IntFunction<SasArray> make, Class<?> element, int bytes) {
            this.array = array;
            this.make = make;
            this.element = element;
            this.bytes = bytes;
        }

        /** A Java array. */
        Object of(byte... values) {
            Object all = Array.newInstance(element, values.length);
            for (int i = 0; i < values.length; i++) {
                Array.setByte(all, i, values[i]);
            }
            return all;
        }
    }

    byte get(int index) {
        return switch (array) {
            case SasByteArray a -> a.get(index);
            case SasIntArray a -> (byte) a.get(index);
            case SasLongArray a -> (byte) a.get(index);
            case SasDoubleArray a -> (byte) a.get(index);
        };
    }

    void set(int index, byte value) {
        switch (array) {
            case SasByteArray a -> a.set(index, value);
            case SasIntArray a -> a.set(index, value);
            case SasLongArray a -> a.set(index, value);
            case SasDoubleArray a -> a.set(index, value);
        }
    }

    void fill(int start, int end, byte value) {
        switch (array) {
            case SasByteArray a -> a.fill(start, end, value);
            case SasIntArray a -> a.fill(start, end, value);
            case SasLongArray a -> a.fill(start, end, value);
            case SasDoubleArray a -> a.fill(start, end, value);
        }
    }

    void copyFrom(int index, Object from, int start, int count) {
        switch (array) {
            case SasByteArray a -> a.copyFrom(index, (byte[]) from, start, count);
            case SasIntArray a -> a.copyFrom(index, (int[]) from, start, count);
            case SasLongArray a -> a.copyFrom(index, (long[]) from, start, count);
            case SasDoubleArray a -> a.copyFrom(index, (double[]) from, start, count);
        }
    }

    void copyTo(int index, Object to, int start, int count) {
        switch (array) {
            case SasByteArray a -> a.copyTo(index, (byte[]) to, start, count);
            case SasIntArray a -> a.copyTo(index, (int[]) to, start, count);
            case SasLongArray a -> a.copyTo(index, (long[]) to, start, count);
            case SasDoubleArray a -> a.copyTo(index, (double[]) to, start, count);
        }
    }

    Object toArray() {
        return switch (array) {
            case SasByteArray a -> a.toArray();
            case SasIntArray a -> a.toArray();
            case SasLongArray a -> a.toArray();
            case SasDoubleArray a -> a.toArray();
        };
    }

    /** All elements. */
    byte[] values() {
        Object all = toArray();
        byte[] values = new byte[Array.getLength(all)];
        for (int i = 0; i < values.length; i++) {
            values[i] = ((Number) Array.get(all, i)).byteValue();
        }
        return values;
    }
}
