package dev.norn.sas.runtime;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Makes constructed temporary objects the handles of new persistent ones. An object that is adopted leads to others, so
 * all of them are promoted in one step, which is done as a whole or not at all. No part of it recurses, so a chain may
 * be as long as storage lasts.
 *
 * <ol>
 * <li>Each object gets storage and its reference. With that it is queued, and from then on, others of the step refer to
 * it.
 * <li>Each object of the queue has its references and elements written, which may queue more.
 * <li>When the queue is done, and room was made for what follows, each object gets its holder, and is seen as
 * persistent. From here on, nothing fails.
 * </ol>
 *
 * <p>Until then, the objects' fields are as they were; if something is thrown, the storage is given back, and the
 * objects are temporary as before. Other fields are saved at the commit, as always. A constructor that has passed
 * {@code this} on has passed on the same object.
 *
 * <p>If the transaction, or the nested run, is undone, what was adopted is temporary again, with the fields that it
 * had: the program made it before, and may adopt it anew when it runs the transaction again. What a factory has created
 * is gone.
 */
public final class Promotion {
    private static final int LARGE = 1024;
    private static final int PLACES_FIRST = 16;

    private final Session session;
    private List<SasObject> objects = new ArrayList<>();
    /** Of each of them, its place among what the transaction holds. */
    private int[] places = new int[PLACES_FIRST];
    /** Of each of them that is adopted, what it was. */
    private List<Temporary> temporaries = new ArrayList<>();
    private List<Object> arrays = new ArrayList<>();
    private int written;
    private boolean isOpen;

    /**
     * What an adopted object was.
     *
     * @param same a temporary object with the same fields
     * @param elements of an array in place; else null
     */
    record Temporary(SasObject object, SasObject same, Object elements) {
        /** Makes the object what it was; others may have to wait until nothing of it is in the store. */
        void restore() {
            long word = object.$sas$word();
            if ((word & SasObject.HASHED) == 0) {
                ToldHashes.keep(object, Format.hashOfAddress(word & ~SasObject.MARKS));
                word = SasObject.HASHED | SasObject.OWN | SasObject.TOLD;
            }
            object.$sas$bind(word & SasObject.OF_HASH);
            object.$sas$holder(null);
            object.$sas$copy(same);
            if (object instanceof InPlace array) {
                array.$sas$kept(null);
                array.$sas$elements(elements);
            }
        }
    }

    Promotion(Session session) {
        this.session = session;
    }

    /**
     * Promotes into a container, on the page of {@code near} where that is not 0 and where it fits. In a transaction;
     * if that is aborted, the object throws {@code ObjectDestroyed} from then on.
     */
    public static void promote(SasObject object, Range range, long near) {
        if (object.$sas$reference() != 0) {
            throw new SASException("the " + object.getClass().getName() + " is persistent already");
        }
        Promotion promotion = Session.get().promotion();
        promotion.step(() -> promotion.add(object, range, near));
    }

    /** Adopts an object beside another one of the same container; returns its reference. In a transaction. */
    static long adopt(SasObject object, long near) {
        Promotion promotion = Session.get().promotion();
        return promotion.step(() -> {
            SasObject same = Classes.of(object.getClass()).newTemporary();
            same.$sas$copy(object);
            int before = promotion.objects.size();
            long reference = promotion.add(object, promotion.session.transaction().store().containerOf(near), near);
            if (promotion.objects.size() > before) {
                promotion.temporaries.add(new Temporary(object, same,
                        object instanceof InPlace array ? array.$sas$elements() : null));
            }
            return reference;
        });
    }

    private long add(SasObject object, Range range, long near) {
        Classes.Info info = Classes.of(object.getClass());
        info.requirePersistable();
        if (objects.size() == places.length) {
            places = Arrays.copyOf(places, 2 * places.length);
        }
        objects.add(object);
        for (;;) {
            long mark = session.transaction().mark();
            long marks = object.$sas$word();
            if ((marks & ~SasObject.MARKS) != 0) {
                // Another thread has promoted it: wait for that.
                objects.removeLast();
                session.transaction().requireStorable(object.$sas$reference());
                return object.$sas$reference();
            }
            long reference = allocate(object, info, range, near);
            if (info.compareAndBind(object, marks, reference | marks)) {
                places[objects.size() - 1] = session.transaction().places() - 1;
                return reference;
            }
            // Another thread has asked for the hash code, which the object then has to have room for.
            session.transaction().takeBackSteps(mark);
        }
    }

    private long allocate(SasObject object, Classes.Info info, Range range, long near) {
        boolean isHashed = (object.$sas$word() & SasObject.HASHED) != 0;
        long bytes = isHashed ? info.bytesHashed() : info.bytes();
        if (object instanceof InPlace array) {
            bytes = Math.max(bytes, array.$sas$bytes() + (isHashed ? Format.HASH_BYTES : 0));
        } else if (bytes > Format.OBJECT_BYTES_MAX) {
            throw new SASException("the " + object.getClass().getName() + " would take " + bytes + " bytes with its "
                    + "hash code, which was requested while it was temporary. That is more than a page of "
                    + Format.OBJECT_BYTES_MAX + ": create it with Factory.newInstanceNear first");
        }
        long reference = session.transaction().allocate(range, session.newClasses().numberFor(info), bytes, near);
        if (isHashed) {
            StoreTransaction.keepHash(reference, References.identityHashCode(object));
        }
        return reference;
    }

    /**
     * Makes a temporary array persistent beside an object; returns its reference. Its elements are written at the
     * commit. In a transaction.
     */
    static long promoteArray(Object array, long near) {
        Promotion promotion = Session.get().promotion();
        return promotion.step(() -> {
            promotion.arrays.add(array);
            return promotion.session.arrays().adopt(array, near);
        });
    }

    /** Does this, and all that it leads to; or only this, if it is led to. */
    private long step(LongSupplier first) {
        if (isOpen) {
            return first.getAsLong();
        }
        isOpen = true;
        long mark = session.transaction().mark();
        try {
            long reference = first.getAsLong();
            while (written < objects.size()) {
                write(objects.get(written++));
            }
            session.makeRoom(objects.size());
            session.keepTemporaries(temporaries);
            // The stack suffices: allocating went deeper.
            for (int i = 0; i < objects.size(); i++) {
                session.holdNew(objects.get(i), places[i]);
            }
            return reference;
        } catch (Throwable e) {
            takeBack(mark, e);
            throw e;
        } finally {
            end();
        }
    }

    private void write(SasObject object) {
        object.$sas$store();
        if (object instanceof InPlace array) {
            array.$sas$write(Format.offsetOf(object.$sas$reference()));
            session.changing().addAll(array);
        }
    }

    private void takeBack(long mark, Throwable cause) {
        for (int i = 0; i < objects.size(); i++) {
            SasObject object = objects.get(i);
            object.$sas$bind(object.$sas$word() & SasObject.OF_HASH);
        }
        session.takeBackSteps(mark, cause);
        arrays.forEach(session.arrays()::forget);
    }

    private void end() {
        if (objects.size() > LARGE) {
            objects = new ArrayList<>();
            temporaries = new ArrayList<>();
            places = new int[PLACES_FIRST];
        }
        objects.clear();
        temporaries.clear();
        arrays.clear();
        written = 0;
        isOpen = false;
    }

    /** Stores a reference of an object that becomes persistent. */
    public static void store(SasObject owner, int offset, Object value) {
        if (value != null) {
            Memory.putLong(Format.offsetOf(owner.$sas$reference()) + offset, References.store(value, owner, offset));
        }
    }
}
