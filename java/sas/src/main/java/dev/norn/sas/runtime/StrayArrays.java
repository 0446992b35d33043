package dev.norn.sas.runtime;

import java.lang.invoke.VarHandle;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.lang.reflect.Array;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Copies of persistent arrays that no transaction holds, by identity and weakly, so that stores into them are noticed.
 * Transformed code calls this for every store into an array, so it has to be cheap for all others: there is one word
 * for each type of elements, with a bit for the lengths, modulo 64, that such copies have, or had since there were
 * none.
 */
public final class StrayArrays {
    private static final Map<IdentityKey, Long> REFERENCES = new ConcurrentHashMap<>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();
    private static long bytes;
    private static long chars;
    private static long shorts;
    private static long ints;
    private static long longs;
    private static long floats;
    private static long doubles;
    private static long references;
    private static final WeakReference<Object> NONE = new WeakReference<>(null);
    /**
     * An array that is none of these copies, so that the many stores into one that follow each other are looked up
     * once.
     */
    private static WeakReference<Object> other = NONE;

    private StrayArrays() {}

    static synchronized void add(Object array, long reference) {
        for (Object gone = GONE.poll(); gone != null; gone = GONE.poll()) {
            REFERENCES.remove(gone);
        }
        if (REFERENCES.isEmpty()) {
            forgetLengths();
        }
        REFERENCES.put(new IdentityKey(array, GONE), reference);
        long bit = 1L << Array.getLength(array);
        switch (array) {
            case byte[] a -> bytes |= bit;
            case boolean[] a -> bytes |= bit;
            case char[] a -> chars |= bit;
            case short[] a -> shorts |= bit;
            case int[] a -> ints |= bit;
            case long[] a -> longs |= bit;
            case float[] a -> floats |= bit;
            case double[] a -> doubles |= bit;
            default -> references |= bit;
        }
        // A thread that is about to say that the array is no such copy looks again.
        VarHandle.fullFence();
        if (other.refersTo(array)) {
            other = NONE;
        }
    }

    /** The array is temporary again. */
    static synchronized void remove(Object array) {
        REFERENCES.remove(new IdentityKey(array, null));
    }

    private static void forgetLengths() {
        bytes = chars = shorts = ints = longs = floats = doubles = references = 0;
    }

    /** Forgets all, when the store is closed: the arrays stay, as temporary ones. */
    public static synchronized void clear() {
        REFERENCES.clear();
        forgetLengths();
    }

    static long get(Object array) {
        return REFERENCES.isEmpty() ? 0 : REFERENCES.getOrDefault(new IdentityKey(array, null), 0L);
    }

    private static void stored(Object array, int index) {
        if (other.refersTo(array)) {
            return;
        }
        Session session = Session.get();
        if (session.isActive() && session.arrays().holds(array) || get(array) == 0) {
            other = new WeakReference<>(array);
            VarHandle.fullFence();
        }
        long reference = get(array);
        if (reference != 0) {
            other = NONE;
            session.within(() -> {
                session.arrays().storeStray(reference, array, index);
                return null;
            });
        }
    }

    public static void storeByte(Object array, int index, int value) {
        int length;
        if (array instanceof boolean[] flags) {
            flags[index] = (value & 1) != 0;
            length = flags.length;
        } else {
            ((byte[]) array)[index] = (byte) value;
            length = ((byte[]) array).length;
        }
        if ((1L << length & bytes) != 0) {
            stored(array, index);
        }
    }

    public static void storeChar(char[] array, int index, char value) {
        array[index] = value;
        if ((1L << array.length & chars) != 0) {
            stored(array, index);
        }
    }

    public static void storeShort(short[] array, int index, short value) {
        array[index] = value;
        if ((1L << array.length & shorts) != 0) {
            stored(array, index);
        }
    }

    public static void storeInt(int[] array, int index, int value) {
        array[index] = value;
        if ((1L << array.length & ints) != 0) {
            stored(array, index);
        }
    }

    public static void storeLong(long[] array, int index, long value) {
        array[index] = value;
        if ((1L << array.length & longs) != 0) {
            stored(array, index);
        }
    }

    public static void storeFloat(float[] array, int index, float value) {
        array[index] = value;
        if ((1L << array.length & floats) != 0) {
            stored(array, index);
        }
    }

    public static void storeDouble(double[] array, int index, double value) {
        array[index] = value;
        if ((1L << array.length & doubles) != 0) {
            stored(array, index);
        }
    }

    public static void storeObject(Object[] array, int index, Object value) {
        array[index] = value;
        if ((1L << array.length & references) != 0) {
            stored(array, index);
        }
    }
}
