package dev.norn.sas.runtime;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Copies of persistent arrays that no transaction holds, by identity and weakly, so that stores into them are noticed. */
public final class StrayArrays {
    private static final Map<Key, Long> REFERENCES = new ConcurrentHashMap<>();
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();
    private static boolean any;

    private StrayArrays() {}

    private static final class Key extends WeakReference<Object> {
        private final int hash;

        Key(Object array, ReferenceQueue<Object> queue) {
            super(array, queue);
            hash = System.identityHashCode(array);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            return this == other || other instanceof Key key && get() != null && get() == key.get();
        }
    }

    static void add(Object array, long reference) {
        for (Object gone = GONE.poll(); gone != null; gone = GONE.poll()) {
            REFERENCES.remove(gone);
        }
        REFERENCES.put(new Key(array, GONE), reference);
        any = true;
    }

    /** Forgets all, when the store is closed: the arrays stay, as temporary ones. */
    public static void clear() {
        REFERENCES.clear();
        any = false;
    }

    static long get(Object array) {
        return any ? REFERENCES.getOrDefault(new Key(array, null), 0L) : 0;
    }

    private static void stored(Object array, int index) {
        Session session = Session.get();
        if (session.isActive() && session.arrays().holds(array)) {
            return;
        }
        long reference = get(array);
        if (reference != 0) {
            dev.norn.sas.Transaction.run(() -> Session.get().arrays().storeStray(reference, array, index));
        }
    }

    public static void storeByte(Object array, int index, int value) {
        if (array instanceof boolean[] flags) {
            flags[index] = (value & 1) != 0;
        } else {
            ((byte[]) array)[index] = (byte) value;
        }
        if (any) {
            stored(array, index);
        }
    }

    public static void storeChar(char[] array, int index, char value) {
        array[index] = value;
        if (any) {
            stored(array, index);
        }
    }

    public static void storeShort(short[] array, int index, short value) {
        array[index] = value;
        if (any) {
            stored(array, index);
        }
    }

    public static void storeInt(int[] array, int index, int value) {
        array[index] = value;
        if (any) {
            stored(array, index);
        }
    }

    public static void storeLong(long[] array, int index, long value) {
        array[index] = value;
        if (any) {
            stored(array, index);
        }
    }

    public static void storeFloat(float[] array, int index, float value) {
        array[index] = value;
        if (any) {
            stored(array, index);
        }
    }

    public static void storeDouble(double[] array, int index, double value) {
        array[index] = value;
        if (any) {
            stored(array, index);
        }
    }

    public static void storeObject(Object[] array, int index, Object value) {
        array[index] = value;
        if (any) {
            stored(array, index);
        }
    }
}
