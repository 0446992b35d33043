package dev.norn.sas.runtime;

import dev.norn.sas.store.Format;
import dev.norn.sas.store.Memory;
import dev.norn.sas.store.Range;

/**
 * Makes a constructed temporary object the handle of a new persistent one: storage is allocated, the fields are written there, and then, with its grant, the object is
 * seen as persistent. Whoever got hold of {@code this} in the constructor has the same object.
 */
public final class Promotion {
    private final SasObject object;
    private final long offset;

    private Promotion(SasObject object, long offset) {
        this.object = object;
        this.offset = offset;
    }

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
            throw new dev.norn.sas.SASException("the " + object.getClass().getName() + " is persistent already");
        }
        Classes.Info info = Classes.of(object.getClass());
        info.requirePersistable();
        Session session = Session.get();
        long reference = session.work().allocate(range, info.number(), info.bytes(), near);
        object.$sas$bind(reference);
        object.$sas$store(new Promotion(object, Format.offsetOf(reference)));
        java.lang.invoke.VarHandle.releaseFence();
        object.$sas$grant(session.writeGrant());
    }

    public void putBoolean(int at, boolean value) {
        Memory.putByte(offset + at, value ? (byte) 1 : 0);
    }

    public void putByte(int at, byte value) {
        Memory.putByte(offset + at, value);
    }

    public void putShort(int at, short value) {
        Memory.putShort(offset + at, value);
    }

    public void putChar(int at, char value) {
        Memory.putChar(offset + at, value);
    }

    public void putInt(int at, int value) {
        Memory.putInt(offset + at, value);
    }

    public void putLong(int at, long value) {
        Memory.putLong(offset + at, value);
    }

    public void putFloat(int at, float value) {
        Memory.putFloat(offset + at, value);
    }

    public void putDouble(int at, double value) {
        Memory.putDouble(offset + at, value);
    }

    public void putReference(int at, Object value) {
        if (value != null) {
            Memory.putLong(offset + at, References.store(value, object, at));
        }
    }
}
