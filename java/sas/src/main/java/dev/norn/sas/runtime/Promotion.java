package dev.norn.sas.runtime;

import dev.norn.sas.SASException;
import dev.norn.sas.store.Format;
import dev.norn.sas.store.Memory;
import dev.norn.sas.store.Range;

/**
 * Makes a constructed temporary object the handle of a new persistent one: storage is allocated, the references are written there, and then, with its holder, the object is
 * seen as persistent. Its other fields are saved at the commit, as ever. Whoever got hold of {@code this} in the constructor has the same object.
 */
public final class Promotion {
    private Promotion() {}

    /** Promotes beside an object of the same container. In a transaction. */
    static void promote(SasObject object, long near) {
        promote(object, Session.get().work().pool().containerOf(near), near);
    }

    /**
     * Promotes into a container, on the page of {@code near} where that is not 0 and where it fits. In a transaction; if that is aborted, the object throws
     * {@code ObjectDestroyed} from then on.
     */
    public static void promote(SasObject object, Range range, long near) {
        if (object.$sas$reference() != 0) {
            throw new SASException("the " + object.getClass().getName() + " is persistent already");
        }
        Classes.Info info = Classes.of(object.getClass());
        info.requirePersistable();
        Session session = Session.get();
        long bytes = object instanceof InPlace array ? Math.max(array.$sas$bytes(), info.bytes()) : info.bytes();
        session.holdNew(object, session.work().allocate(range, info.number(), bytes, near));
        if (object instanceof InPlace array) {
            InPlace.fill(array, Format.offsetOf(object.$sas$reference()));
        }
    }

    /** Stores a reference of an object that becomes persistent; returns what its field keeps. */
    public static Object store(SasObject owner, int offset, Object value) {
        if (value == null) {
            return null;
        }
        Memory.putLong(Format.offsetOf(owner.$sas$reference()) + offset, References.store(value, owner, offset));
        return References.cacheable(value);
    }
}
