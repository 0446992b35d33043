package dev.norn.sas.runtime;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Persistent arrays as Java arrays. A transaction has at most one copy of an array, made under its lock and written
 * back, where it differs, when the transaction commits; after an abort the copy has the stored elements again. Outside
 * transactions a copy is a snapshot. Element stores are transformed, so that one into a copy that no transaction holds
 * becomes a transaction of its own.
 *
 * <p>Making a copy costs a pass over the array, and so does the comparison at the end.
 */
public final class ArrayCopies {
    private final Session session;
    private final Map<Long, Object> copies = new HashMap<>();
    private final Map<Object, Long> references = new IdentityHashMap<>();
    /** Those that were temporary before. */
    private final Map<Object, Long> adopted = new IdentityHashMap<>();
    /** The arrays, in the order in which they came; those that were forgotten are still here. */
    private final List<Long> order = new ArrayList<>();
    /** Arrays that are being read: where one has led so far. */
    private final Map<Long, Object> loading = new HashMap<>();
    private final List<Long> met = new ArrayList<>();

    ArrayCopies(Session session) {
        this.session = session;
    }

    /**
     * The copy of the array, of the running transaction, or a snapshot. Arrays that are its elements come with it,
     * however deep.
     */
    static Object load(long reference) {
        Session session = Session.get();
        return session.isActive() || session.reads() != null ? session.arrays().copy(reference)
                : session.arrays().snapshot(reference);
    }

    private Object copy(long reference) {
        Object copy = copies.get(reference);
        if (copy == null) {
            if (session.isActive()) {
                session.transaction().lockShared(reference);
            }
            copy = newArray(SnapshotReads.place(session, reference));
            add(reference, copy);
            meet(reference, copy);
        }
        return copy;
    }

    private Object snapshot(long reference) {
        Object snapshot = loading.get(reference);
        if (snapshot == null) {
            snapshot = Committed.read(reference, () -> newArray(offsetOf(reference)));
            meet(reference, snapshot);
        }
        return snapshot;
    }

    /**
     * Reads the array's elements, which may lead to other arrays. What they lead to waits until it is its turn, so a
     * chain of arrays is no chain of calls.
     */
    private void meet(long reference, Object array) {
        loading.put(reference, array);
        met.add(reference);
        if (met.size() > 1) {
            return;
        }
        try {
            for (int i = 0; i < met.size(); i++) {
                fill(met.get(i), loading.get(met.get(i)));
            }
        } catch (Throwable e) {
            loading.values().forEach(this::forget);
            throw e;
        } finally {
            met.clear();
            loading.clear();
        }
    }

    private void fill(long reference, Object array) {
        if (session.isActive()) {
            read(offsetOf(reference), array);
            return;
        }
        if (session.reads() != null) {
            read(SnapshotReads.place(session, reference), array);
        } else {
            Committed.read(reference, () -> {
                read(offsetOf(reference), array);
                return array;
            });
        }
        StrayArrays.add(array, reference);
    }

    private void add(long reference, Object copy) {
        order.add(reference);
        references.put(copy, reference);
        copies.put(reference, copy);
    }

    /** The array is none of these copies any more, or was not to become one. */
    void forget(Object copy) {
        Long reference = references.remove(copy);
        if (reference != null) {
            copies.remove(reference);
        }
    }

    /**
     * The reference of the persistent array that this is a copy of in the thread's transaction, or was; 0 if it is
     * none.
     */
    public static long referenceOfCopy(Object array) {
        return Session.get().arrays().referenceOf(array);
    }

    /** The reference of the persistent array that this is a copy of; 0 if it is none. */
    long referenceOf(Object array) {
        Long reference = references.get(array);
        return reference != null ? reference : StrayArrays.get(array);
    }

    private static Object newArray(long at) {
        int number = classOf(Memory.getLong(at));
        Class<?> type = number == CLASS_ARRAY ? Classes.find(componentName(at))
                : PRIMITIVE_TYPES[number - CLASS_ARRAY - 1];
        return Array.newInstance(type, Memory.getInt(at + ARRAY_LENGTH));
    }

    private static final Class<?>[] PRIMITIVE_TYPES =
            {boolean.class, byte.class, short.class, char.class, int.class, long.class, float.class, double.class};

    /** The name of the component class of an array of references is a value. The word after the length refers to it. */
    private static String componentName(long at) {
        return (String) Values.decode(References.value(Memory.getLong(at + ARRAY_HEADER_BYTES)));
    }

    private static long elements(long at) {
        return at + ARRAY_HEADER_BYTES + (classOf(Memory.getLong(at)) == CLASS_ARRAY ? 8 : 0);
    }

    private static void read(long at, Object copy) {
        long from = elements(at);
        switch (copy) {
            case Object[] objects -> {
                for (int i = 0; i < objects.length; i++) {
                    objects[i] = loadElement(Memory.getLong(from + 8L * i));
                }
            }
            case boolean[] flags -> {
                for (int i = 0; i < flags.length; i++) {
                    flags[i] = Memory.getByte(from + i) != 0;
                }
            }
            default -> copyBytes(copy, from);
        }
    }

    private static Object loadElement(long word) {
        return word == 0 ? null : References.load(word, ELEMENT_OWNER, 0);
    }

    /** In messages about elements, who refers to them. */
    private static final SasObject ELEMENT_OWNER = new ArrayOwner(0);

    private static void copyBytes(Object copy, long from) {
        var target = segment(copy);
        java.lang.foreign.MemorySegment.copy(Memory.slice(from, target.byteSize()), 0, target, 0, target.byteSize());
    }

    private static java.lang.foreign.MemorySegment segment(Object array) {
        return switch (array) {
            case byte[] a -> java.lang.foreign.MemorySegment.ofArray(a);
            case short[] a -> java.lang.foreign.MemorySegment.ofArray(a);
            case char[] a -> java.lang.foreign.MemorySegment.ofArray(a);
            case int[] a -> java.lang.foreign.MemorySegment.ofArray(a);
            case long[] a -> java.lang.foreign.MemorySegment.ofArray(a);
            case float[] a -> java.lang.foreign.MemorySegment.ofArray(a);
            case double[] a -> java.lang.foreign.MemorySegment.ofArray(a);
            default -> throw new SASException("no array: " + array.getClass().getName());
        };
    }

    /** Allocates a persistent array of the component type, of zeros; returns the transaction's copy of it. */
    public static Object create(Class<?> component, int length, Range range, long near) {
        if (length < 0) {
            throw new NegativeArraySizeException(Integer.toString(length));
        }
        Session session = Session.get();
        Object copy = Array.newInstance(component, length);
        long mark = session.transaction().mark();
        try {
            session.arrays().add(allocate(session.transaction(), component, length, range, near), copy);
            return copy;
        } catch (Throwable e) {
            session.arrays().forget(copy);
            session.takeBackSteps(mark, e);
            throw e;
        }
    }

    private static long allocate(StoreTransaction transaction, Class<?> component, int length, Range range, long near) {
        int number = numberOf(component);
        boolean hasName = number == CLASS_ARRAY;
        long bytes = ARRAY_HEADER_BYTES + (hasName ? 8 : 0) + (long) length * elementBytes(number);
        long reference = transaction.allocate(range, number, bytes, near);
        long at = offsetOf(reference);
        Memory.putLong(at + ARRAY_LENGTH, length);
        if (hasName) {
            Memory.putLong(at + ARRAY_HEADER_BYTES,
                    transaction.allocateValue(Values.encode(component.getName()), reference));
        }
        return reference;
    }

    private static int numberOf(Class<?> component) {
        for (int i = 0; i < PRIMITIVE_TYPES.length; i++) {
            if (PRIMITIVE_TYPES[i] == component) {
                return CLASS_ARRAY + 1 + i;
            }
        }
        return CLASS_ARRAY;
    }

    /**
     * Makes a temporary array persistent beside an object: from now on, it is the transaction's copy. Only
     * {@link Promotion} does this, which takes it back if something is thrown.
     */
    long adopt(Object array, long near) {
        StoreTransaction transaction = session.transaction();
        long reference = allocate(transaction, array.getClass().getComponentType(), Array.getLength(array),
                transaction.store().containerOf(near), near);
        add(reference, array);
        adopted.put(array, reference);
        return reference;
    }

    /** Writes each copy back that differs from what is stored. */
    void writeBack() {
        // Writing references back may adopt arrays, which are then written back too.
        for (int i = 0; i < order.size(); i++) {
            Object copy = copies.get(order.get(i));
            // Whoever has it locked has destroyed it: what the transaction changed before goes with it.
            if (copy != null && !isDestroyed(Memory.getLong(offsetOf(order.get(i))))) {
                write(order.get(i), copy);
            }
        }
        // From the commit on, stores into the copies have to be noticed; nothing may fail then.
        copies.forEach((reference, copy) -> StrayArrays.add(copy, reference));
    }

    private void write(long reference, Object copy) {
        long at = elements(offsetOf(reference));
        switch (copy) {
            case Object[] objects -> {
                for (int i = 0; i < objects.length; i++) {
                    writeElement(reference, at + 8L * i, objects[i]);
                }
            }
            case boolean[] flags -> {
                byte[] bytes = new byte[flags.length];
                for (int i = 0; i < flags.length; i++) {
                    bytes[i] = (byte) (flags[i] ? 1 : 0);
                }
                writeBytes(reference, at, java.lang.foreign.MemorySegment.ofArray(bytes));
            }
            default -> writeBytes(reference, at, segment(copy));
        }
    }

    private void writeBytes(long reference, long at, java.lang.foreign.MemorySegment bytes) {
        var stored = Memory.slice(at, bytes.byteSize());
        long first = stored.mismatch(bytes);
        if (first >= 0) {
            lockFor(reference, at + first, bytes.byteSize() - first);
            java.lang.foreign.MemorySegment.copy(bytes, first, stored, first, bytes.byteSize() - first);
        }
    }

    private void lockFor(long reference, long at, long length) {
        session.transaction().lockExclusive(reference);
        if (StoreTransaction.isTouched(offsetOf(reference))) {
            long first = at & ~7L;
            session.transaction().touch(first, Math.toIntExact((at + length + 7 & ~7L) - first));
        }
    }

    private void writeElement(long reference, long at, Object element) {
        long old = Memory.getLong(at);
        if (isStored(old, element)) {
            return;
        }
        lockFor(reference, at, 8);
        References.replace(at, element, new ArrayOwner(reference), 0);
    }

    /** Takes over an element that was stored into a copy which no transaction held. In a transaction. */
    void storeStray(long reference, Object array, int index) {
        SnapshotReads.refuseChanges(session);
        Object own = copy(reference);
        System.arraycopy(array, index, own, index, 1);
    }

    boolean holds(Object array) {
        return references.containsKey(array);
    }

    private boolean isStored(long word, Object element) {
        if (element == null) {
            return word == 0;
        }
        if (word == 0) {
            return false;
        }
        return switch ((int) word & TAG_MASK) {
            case TAG_OBJECT -> element instanceof SasObject handle ? handle.$sas$reference() == word
                    : element.getClass().isArray() && referenceOf(element) == word;
            case TAG_TEMPORARY -> References.load(word, ELEMENT_OWNER, 0) == element;
            default -> element.equals(References.load(word, ELEMENT_OWNER, 0))
                    && java.util.Arrays.equals(
                            Values.encode(element), Values.encode(References.load(word, ELEMENT_OWNER, 0)));
        };
    }

    /** The transaction has ended: its copies are no longer its own. */
    void end() {
        if (!order.isEmpty()) {
            copies.clear();
            references.clear();
            adopted.clear();
            order.clear();
        }
    }

    /**
     * The transaction was undone: copies show what is stored; those of arrays that are gone stay as they are, and are
     * temporary again if they were adopted.
     */
    void restore() {
        try {
            adopted.keySet().forEach(this::giveBack);
            copies.forEach((reference, copy) -> {
                StrayArrays.add(copy, reference);
                try {
                    Committed.read(reference, () -> {
                        read(offsetOf(reference), copy);
                        return null;
                    });
                } catch (dev.norn.sas.exception.ObjectDestroyed e) {
                    // Made by the transaction.
                }
            });
        } finally {
            end();
        }
    }

    private void giveBack(Object array) {
        forget(array);
        StrayArrays.remove(array);
    }

    /** What the copies have now: each copy, and then a copy of it. */
    Object[] snapshot() {
        Object[] snapshot = new Object[2 * references.size()];
        int at = 0;
        for (Object copy : references.keySet()) {
            snapshot[at++] = copy;
            int length = Array.getLength(copy);
            Object same = Array.newInstance(copy.getClass().getComponentType(), length);
            System.arraycopy(copy, 0, same, 0, length);
            snapshot[at++] = same;
        }
        return snapshot;
    }

    /**
     * The transaction is back where it was when the snapshot was made: copies have again what they had then, those that
     * came later what is stored.
     */
    void restore(Object[] snapshot) {
        Map<Object, Object> then = new IdentityHashMap<>();
        for (int i = 0; i < snapshot.length; i += 2) {
            then.put(snapshot[i], snapshot[i + 1]);
        }
        for (var entry : new HashMap<>(copies).entrySet()) {
            Object copy = entry.getValue();
            Object before = then.get(copy);
            if (before != null) {
                System.arraycopy(before, 0, copy, 0, Array.getLength(copy));
            } else if (session.transaction().store().isObject(entry.getKey())) {
                read(offsetOf(entry.getKey()), copy);
            } else if (adopted.remove(copy) != null) {
                giveBack(copy);
            } else {
                StrayArrays.add(copy, entry.getKey());
                forget(copy);
            }
        }
    }
}
