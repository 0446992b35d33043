package dev.norn.sas.store.memory;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The one shared address space of a JVM: a reserved range into which the pool of the attached store is mapped.
 *
 * <p>An offset is a number of bytes from the start of that range. Base and length are constants of the JVM, so that an
 * access whose offset was masked with {@link #MASK} is one load: the compiler proves the bounds. Every accessor costs
 * one load or store. An access to a part of the mapping that the file no longer has ends in an {@link InternalError},
 * which callers turn into a {@code StorageReadFailure}.
 */
public final class Memory {
    /** Bytes of address space that offsets can name. */
    public static final long SPACE = 1L << 40;
    /**
     * Keeps the offset of a reference word, and clears its generation. Tags are in the lowest four bits, which are
     * kept.
     */
    public static final long MASK = SPACE - 1;

    /** Where memory of this JVM alone begins, after as many bytes as an object's fields can be from its offset. */
    public static final long OWN = SPACE + (1L << 32);
    /** Bytes of it; it takes storage where something was stored. */
    public static final long OWN_BYTES = 64L << 30;

    private static final int PROT_READ = 1;
    private static final int PROT_WRITE = 2;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MADV_RANDOM = 1;
    private static final int MADV_DONTNEED = 4;

    private static final MethodHandle MMAP;
    private static final MethodHandle MADVISE;
    /** The range, followed by room for the largest offset within an object. */
    private static final MemorySegment ALL;

    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfChar CHAR = ValueLayout.JAVA_CHAR_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;
    /** Up to so many bytes, a loop costs less than a call for bulk. */
    private static final int SHORT_BYTES = 128;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    static {
        Linker linker = Linker.nativeLinker();
        ValueLayout.OfLong word = ValueLayout.JAVA_LONG;
        ValueLayout.OfInt number = ValueLayout.JAVA_INT;
        MMAP = linker.downcallHandle(linker.defaultLookup().findOrThrow("mmap"),
                FunctionDescriptor.of(word, word, word, number, number, number, word));
        MADVISE = linker.downcallHandle(linker.defaultLookup().findOrThrow("madvise"),
                FunctionDescriptor.of(number, word, word, number));
        long length = OWN + OWN_BYTES;
        long base = mmap(0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
        if (base == -1) {
            throw new ExceptionInInitializerError("cannot reserve " + length
                    + " bytes of address space: is `ulimit -v` set?");
        }
        ALL = MemorySegment.ofAddress(base).reinterpret(length);
    }

    private Memory() {}

    private static long mmap(long address, long length, int protection, int flags, int descriptor) {
        try {
            return (long) MMAP.invokeExact(address, length, protection, flags, descriptor, 0L);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Maps the first {@code length} bytes of {@code file} at offset 0, shared with every process that does so. */
    static void map(NativeFile file, long length) throws IOException {
        long at = file.withDescriptor(descriptor -> mmap(ALL.address(), length, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_FIXED, descriptor));
        if (at == -1) {
            throw new dev.norn.sas.exception.StorageReadFailure("cannot map " + length + " bytes of the pool " + file);
        }
        try {
            // Objects that are used together lie on a page, not on neighbouring ones: reading ahead would push pages
            // out that are in use. If the kernel does not take the advice, that is no loss.
            int ignored = (int) MADVISE.invokeExact(at, length, MADV_RANDOM);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Puts zeros in the place of what was mapped; the range stays reserved. */
    public static void unmap() {
        mmap(ALL.address(), SPACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1);
    }

    /** Gives storage of the JVM's own memory back; it has zeros then. */
    static void forgetOwn(long offset, long length) {
        try {
            // If the kernel does not take the advice, the storage stays.
            int ignored = (int) MADVISE.invokeExact(ALL.address() + offset, length, MADV_DONTNEED);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    public static boolean getBoolean(long offset) {
        return ALL.get(BYTE, offset) != 0;
    }

    public static byte getByte(long offset) {
        return ALL.get(BYTE, offset);
    }

    public static short getShort(long offset) {
        return ALL.get(SHORT, offset);
    }

    public static char getChar(long offset) {
        return ALL.get(CHAR, offset);
    }

    public static int getInt(long offset) {
        return ALL.get(INT, offset);
    }

    public static long getLong(long offset) {
        return ALL.get(LONG, offset);
    }

    public static float getFloat(long offset) {
        return ALL.get(FLOAT, offset);
    }

    public static double getDouble(long offset) {
        return ALL.get(DOUBLE, offset);
    }

    public static void putBoolean(long offset, boolean value) {
        ALL.set(BYTE, offset, value ? (byte) 1 : 0);
    }

    public static void putByte(long offset, byte value) {
        ALL.set(BYTE, offset, value);
    }

    public static void putShort(long offset, short value) {
        ALL.set(SHORT, offset, value);
    }

    public static void putChar(long offset, char value) {
        ALL.set(CHAR, offset, value);
    }

    public static void putInt(long offset, int value) {
        ALL.set(INT, offset, value);
    }

    public static void putLong(long offset, long value) {
        ALL.set(LONG, offset, value);
    }

    public static void putFloat(long offset, float value) {
        ALL.set(FLOAT, offset, value);
    }

    public static void putDouble(long offset, double value) {
        ALL.set(DOUBLE, offset, value);
    }

    /** An aligned word, with volatile order. */
    public static long getVolatile(long offset) {
        return (long) WORD.getVolatile(ALL, offset);
    }

    /** Stores an aligned word, after everything that was stored before it. */
    public static void putRelease(long offset, long value) {
        WORD.setRelease(ALL, offset, value);
    }

    /** Stores an aligned word, with volatile order. */
    public static void putVolatile(long offset, long value) {
        WORD.setVolatile(ALL, offset, value);
    }

    public static boolean compareAndSet(long offset, long expected, long value) {
        return WORD.compareAndSet(ALL, offset, expected, value);
    }

    /** Clears the bits of an aligned word that {@code mask} does not have. */
    public static void andAtomic(long offset, long mask) {
        long ignored = (long) WORD.getAndBitwiseAnd(ALL, offset, mask);
    }

    /** {@code length} bytes as a segment, for bulk copies. */
    public static MemorySegment slice(long offset, long length) {
        return ALL.asSlice(offset, length);
    }

    /** A copy of {@code length} bytes. */
    public static byte[] bytes(long offset, int length) {
        byte[] copy = new byte[length];
        if (length > SHORT_BYTES) {
            MemorySegment.copy(ALL, BYTE, offset, copy, 0, length);
            return copy;
        }
        int at = 0;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            LONGS.set(copy, at, getLong(offset + at));
        }
        for (; at < length; at++) {
            copy[at] = getByte(offset + at);
        }
        return copy;
    }

    public static void copyOut(long offset, byte[] to, int start, int length) {
        MemorySegment.copy(ALL, BYTE, offset, to, start, length);
    }

    public static void copyIn(byte[] from, int start, long offset, int length) {
        MemorySegment.copy(from, start, ALL, BYTE, offset, length);
    }

    /** Copies bytes between places that do not overlap. */
    public static void copy(long from, long to, long length) {
        if (length <= SHORT_BYTES && (length & 7) == 0) {
            for (long at = 0; at < length; at += Long.BYTES) {
                putLong(to + at, getLong(from + at));
            }
            return;
        }
        MemorySegment.copy(ALL, from, ALL, to, length);
    }

    public static void clear(long offset, long length) {
        if (length <= SHORT_BYTES && (length & 7) == 0) {
            for (long at = 0; at < length; at += Long.BYTES) {
                putLong(offset + at, 0);
            }
            return;
        }
        ALL.asSlice(offset, length).fill((byte) 0);
    }
}
