package dev.norn.sas.runtime;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.util.List;

/**
 * Fields that hold references. In the store such a field is one word: null, an object's reference with its generation,
 * a value in the word itself or beside the object, or the number of a temporary object of one JVM.
 */
public final class References {
    /** Cleared when the first store is opened: until then, references are compared as ever. */
    static volatile boolean hasPersistent;

    /** Classes with initializers that opening a store does not need. */
    private static final List<String> FIRST_USED_LATE = List.of("dev.norn.sas.Constructors",
            "dev.norn.sas.runtime.Constants", "dev.norn.sas.runtime.Monitors", "dev.norn.sas.util.KeyOrder");

    private References() {}

    /** From the opening of a store on, comparisons look at addresses. */
    static void begin() {
        initializeClasses();
        hasPersistent = true;
    }

    /**
     * Initializes those classes that a program may need for the first time where its stack ends. A class whose
     * initializer overflows the stack is of no use to the whole JVM from then on.
     */
    private static void initializeClasses() {
        try {
            for (String name : FIRST_USED_LATE) {
                Class.forName(name);
            }
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("SAS is not complete", e);
        }
    }

    /** The Java reference for a field's word. Costs a new handle if the word refers to an object. */
    public static Object load(long word, SasObject owner, int offset) {
        if (word == 0) {
            return null;
        }
        return switch ((int) word & TAG_MASK) {
            case TAG_OBJECT -> loadObject(word);
            case TAG_INLINE -> Values.decodeInline(word);
            case TAG_VALUE -> Values.decode(value(word));
            case TAG_TEMPORARY -> Temporaries.get(word, owner, offset);
            default -> throw new SASException("the word " + Long.toHexString(word) + " at offset " + offset + " of "
                    + owner.getClass().getName() + " is no reference: the store is damaged");
        };
    }

    /** The bytes of a value, as the thread's transaction sees it. */
    static byte[] value(long word) {
        SnapshotReads reads = Session.get().reads();
        return reads == null ? StoreTransaction.value(word) : reads.value(word);
    }

    private static Object loadObject(long word) {
        Session session = Session.get();
        if (session.reads() != null) {
            return newHandle(word, Memory.getLong(SnapshotReads.place(session, word)));
        }
        SasObject known = session.isActive() ? session.holding(word) : null;
        if (known != null) {
            return known;
        }
        var store = CurrentStore.get();
        if (Range.anyDamaged()) {
            store.containerOf(word).check();
        }
        // If a larger object covers the place now, its data could look like a header of that generation.
        store.requireObject(word);
        return newHandle(word, Memory.getLong(offsetOf(word)));
    }

    private static Object newHandle(long word, long header) {
        int number = classOf(header);
        if (isArray(number)) {
            return ArrayCopies.load(word);
        }
        return Classes.byNumber(number).newHandle(isHashed(header) ? word | SasObject.HASHED : word);
    }

    /** Reads a field that holds a reference of any kind. */
    public static Object get(SasObject handle, int offset) {
        return holding(handle) != null ? load(word(handle, offset), handle, offset) : committed(handle, offset, null);
    }

    /**
     * The same, without a new handle if {@code kept} is the target's. Outside transactions nothing is looked up that
     * others could not see.
     */
    public static Object get(SasObject handle, int offset, Object kept) {
        if (holding(handle) == null) {
            return committed(handle, offset, kept);
        }
        long word = word(handle, offset);
        return isHandleOf(kept, word) ? kept : load(word, handle, offset);
    }

    private static long word(SasObject handle, int offset) {
        return Memory.getLong(SnapshotReads.place(Session.get(), handle.$sas$reference()) + offset);
    }

    /**
     * Reads a field of a handle that the running thread holds.
     *
     * @param reference the handle's, with its marks or without
     */
    public static Object held(long reference, int offset, SasObject handle) {
        return load(Access.word(reference, offset), handle, offset);
    }

    /** The same, without a new handle if {@code kept} is the target's. */
    public static Object held(long reference, int offset, SasObject handle, Object kept) {
        long word = Access.word(reference, offset);
        return isHandleOf(kept, word) ? kept : load(word, handle, offset);
    }

    private static boolean isHandleOf(Object kept, long word) {
        return kept instanceof SasObject target && target.$sas$reference() == word && word != 0;
    }

    /**
     * The handle in whose field the target of a field is kept, or null outside transactions, where nothing may be kept:
     * another thread may hold the handle.
     */
    public static SasObject holding(SasObject handle) {
        return handle.$sas$holder() == Thread.currentThread() ? handle : Session.read(handle);
    }

    /** Reads a field outside transactions, without a new handle if {@code kept} is the target's. */
    public static Object committed(SasObject handle, int offset, Object kept) {
        long reference = handle.$sas$reference();
        return Committed.read(reference, () -> {
            long word = Access.word(reference, offset);
            return isHandleOf(kept, word) ? kept : load(word, handle, offset);
        });
    }

    /**
     * Stores a reference into a field. What the field held of values is freed. Returns the handle in whose field the
     * target may be kept, or null.
     */
    public static SasObject put(SasObject handle, int offset, Object value) {
        SasObject its = Access.isWritable(handle) ? handle : Session.write(handle);
        if (its == null) {
            Session.get().within(() -> put(handle, offset, value));
            return null;
        }
        replace(offsetOf(its.$sas$reference()) + offset, value, its, offset);
        return its;
    }

    /**
     * Stores a reference into a field of a handle that the running thread holds, and may write.
     *
     * @param reference the handle's, with its marks or without
     */
    public static void putHeld(long reference, int offset, SasObject handle, Object value) {
        replace(offsetOf(reference) + offset, value, handle, offset);
    }

    /**
     * Stores a reference into a word of an object that the transaction writes. A value that was there is freed: both,
     * or neither if something is thrown.
     */
    static void replace(long at, Object value, SasObject owner, int offset) {
        long old = Memory.getLong(at);
        if ((old & TAG_MASK) == TAG_VALUE) {
            replaceValue(at, old, value, owner, offset);
        } else {
            Memory.putLong(at, store(value, owner, offset));
        }
    }

    private static void replaceValue(long at, long old, Object value, SasObject owner, int offset) {
        Session session = Session.get();
        long mark = session.transaction().mark();
        try {
            session.transaction().freeValue(old);
            Memory.putLong(at, store(value, owner, offset));
        } catch (Throwable e) {
            session.takeBackSteps(mark, e);
            throw e;
        }
    }

    /**
     * Whether a field may keep its target when a transaction holds its object anew: it keeps none, or the word in the
     * store is still the target's reference.
     */
    public static boolean isCurrent(Object target, long at) {
        return target == null || isHandleOf(target, Memory.getLong(at));
    }

    /** The word for a reference that is about to be stored into {@code owner}. */
    static long store(Object value, SasObject owner, int offset) {
        if (value == null) {
            return 0;
        }
        if (value instanceof SasObject object && object.$sas$reference() != 0) {
            return storable(object);
        }
        byte[] bytes = Values.encode(value);
        if (bytes != null) {
            return bytes.length <= Values.INLINE_MAX ? Values.inline(bytes)
                    : Session.get().transaction().allocateValue(bytes, owner.$sas$reference());
        }
        if (value.getClass().isArray()) {
            long array = Session.get().arrays().referenceOf(value);
            if (array != 0) {
                return storable(array);
            }
        }
        String constant = Constants.nameOf(value, owner.getClass());
        if (constant != null) {
            return Session.get().transaction().allocateValue(Values.encodeConstant(constant), owner.$sas$reference());
        }
        return CurrentStore.wordOfTemporary(value, owner, offset);
    }

    /** Refuses a temporary object: each persistent one is made by the program. */
    public static long refuse(Object value, SasObject owner, int offset) {
        throw new SASException(describe(value, owner, offset) + refusal(value));
    }

    /** Keeps a temporary object alive until the store is closed. */
    public static long keepTemporary(Object value, SasObject owner, int offset) {
        return Temporaries.put(checked(value, owner, offset), () -> describe(value, owner, offset));
    }

    /** Makes a temporary object persistent, beside its owner. */
    public static long adopt(Object value, SasObject owner, int offset) {
        if (value.getClass().isArray()) {
            return Promotion.promoteArray(value, owner.$sas$reference());
        }
        if (value instanceof SasObject object) {
            return Promotion.adopt(object, owner.$sas$reference());
        }
        throw new SASException(describe(value, owner, offset) + " cannot be persistent: " + advice(value));
    }

    private static long storable(SasObject object) {
        Nobody.requireOpenStore(object);
        long reference = object.$sas$reference();
        boolean isThere = Nobody.isOfCommitted(object)
                && Session.get().transaction().store().ranges().isOfNewestGeneration(reference);
        return isThere ? reference : storable(reference);
    }

    private static long storable(long reference) {
        Session.get().transaction().requireStorable(reference);
        return reference;
    }

    private static Object checked(Object value, SasObject owner, int offset) {
        if (value instanceof java.util.Collection || value instanceof java.util.Map) {
            if (value.getClass().getModule() == Object.class.getModule()) {
                throw new SASException(describe(value, owner, offset) + " cannot be persistent: " + advice(value));
            }
        }
        return value;
    }

    private static String advice(Object value) {
        return value instanceof java.util.Collection || value instanceof java.util.Map
                ? "use SasMap, SasSortedMap or SasList of dev.norn.sas.util, which implement the same interfaces"
                : Classes.notTransformed(value.getClass())
                        + "; and it is no value, as strings, numbers, dates and enums are";
    }

    /** What is wrong with a temporary object, and what would do instead. */
    private static String refusal(Object value) {
        if (value.getClass().isArray()) {
            String type = value.getClass().getComponentType().getSimpleName();
            String method = value.getClass().getComponentType().isPrimitive()
                    ? "new" + Character.toUpperCase(type.charAt(0)) + type.substring(1) + "ArrayNear"
                    : "newArrayOfNear";
            return " is temporary: create it with Factory." + method + ", or open the store with SubObjects.ADOPT";
        }
        return value instanceof SasObject
                ? " is temporary: create it with Factory.newInstanceNear, or open the store with SubObjects.ADOPT"
                : " cannot be persistent: " + advice(value);
    }

    private static String describe(Object value, SasObject owner, int offset) {
        if (owner instanceof ArrayOwner) {
            return "the " + value.getClass().getName() + " for an element of an array";
        }
        return "the " + value.getClass().getName() + " for field " + Classes.of(owner.getClass()).fieldAt(offset)
                + " of " + owner.getClass().getName();
    }

    /** What a handle may keep of a field's target: handles only. */
    public static Object cacheable(Object target) {
        return target instanceof SasObject handle && handle.$sas$reference() != 0 ? target : null;
    }

    /** Whether two references name one object; what {@code ==} becomes. */
    public static boolean same(Object a, Object b) {
        return a == b
                || hasPersistent && a instanceof SasObject x && b instanceof SasObject y
                        && x.$sas$reference() == y.$sas$reference() && x.$sas$reference() != 0
                        && Nobody.isOfClosedStore(x) == Nobody.isOfClosedStore(y);
    }

    /**
     * What {@link System#identityHashCode} becomes. That of an object that was persistent before anybody asked is made
     * of its address; the code of one that was temporary then is stored with it. So it is the same before and after,
     * and in every JVM.
     *
     * @throws dev.norn.sas.exception.ObjectDestroyed if the code was stored with an object that is gone, and was not
     *     made in this JVM
     */
    public static int identityHashCode(Object object) {
        if (!(object instanceof SasObject handle)) {
            return System.identityHashCode(object);
        }
        long word = handle.$sas$word();
        if (word == 0) {
            word = Classes.of(handle.getClass()).markHashed(handle);
        }
        if ((word & SasObject.OWN) != 0) {
            return (word & SasObject.TOLD) != 0 ? ToldHashes.of(handle) : System.identityHashCode(handle);
        }
        return (word & SasObject.HASHED) != 0 ? storedHash(handle) : hashOfAddress(word & ~SasObject.MARKS);
    }

    private static int storedHash(SasObject handle) {
        Nobody.requireOpenStore(handle);
        SnapshotReads reads = Session.get().reads();
        return reads == null ? CurrentStore.get().hashOf(handle.$sas$reference())
                : reads.hashOf(handle.$sas$reference());
    }

    /**
     * What Object's toString becomes: the class and the address, the same in every JVM, or what it is for a temporary
     * object.
     */
    public static String text(Object object) {
        boolean isPersistent = object instanceof SasObject handle && handle.$sas$reference() != 0;
        return object.getClass().getName() + "@"
                + (isPersistent ? Long.toHexString(offsetOf(((SasObject) object).$sas$reference()))
                        : Integer.toHexString(object.hashCode()));
    }

    /**
     * What a clone of a persistent object becomes: a temporary object with the same values. Other objects that a method
     * clone may return stay as they are.
     */
    public static Object cloned(Object clone, Object original) {
        if (clone != original && clone instanceof SasObject copy && original instanceof SasObject handle
                && copy.$sas$word() != 0 && copy.$sas$reference() == handle.$sas$reference()) {
            boolean isOfPersistent = handle.$sas$reference() != 0;
            copy.$sas$bind(0);
            copy.$sas$holder(null);
            if (isOfPersistent) {
                copy.$sas$copy(handle);
            }
        }
        return clone;
    }
}
