package dev.norn.sas.runtime;

/** What the agent adds to every class whose instances may be persistent. Not to be implemented by hand. */
public interface SasObject {
    /** In the reference word, whose lowest bits are marks: the holder may store into the fields. */
    long WRITABLE = 1;
    /**
     * The object has an identity hash code of its own; of a temporary one, somebody has asked for it, so that it has to
     * be kept if the object becomes persistent.
     */
    long HASHED = 2;
    /** That code is this Java object's. */
    long OWN = 4;
    /** The code is the one that {@link ToldHashes} has. */
    long TOLD = 8;
    long OF_HASH = HASHED | OWN | TOLD;
    long MARKS = 15;

    /** The reference of the persistent object that this is a handle of; 0 for a temporary object. */
    long $sas$reference();

    /**
     * The thread whose transaction holds the object and has its values in this handle's fields. If it is {@link Nobody}
     * or another thread, the running thread has to acquire the object first. Null for a temporary object.
     */
    Thread $sas$holder();

    void $sas$holder(Thread holder);

    boolean $sas$isWritable();

    /** The reference with its marks; of a temporary object, marks alone. */
    long $sas$word();

    /**
     * Makes this object a handle of the reference, with marks. The holder comes later, and with it others see that it
     * is one.
     */
    void $sas$bind(long word);

    /** Takes the holder's leave to read and write away, if it is still the holder; {@code next} is the holder then. */
    void $sas$leave(Thread holder, Thread next);

    /**
     * Reads the values of the object at this offset into the fields. Fields that keep handles forget those that are no
     * longer the object's.
     */
    void $sas$load(long offset);

    /**
     * Writes the fields that are no references into the object at this offset. References are stored as they are
     * assigned.
     */
    void $sas$save(long offset);

    /**
     * Stores the references of a temporary object that becomes the persistent one that it is bound to. The fields stay
     * as they are.
     */
    void $sas$store();

    /** Makes the fields of a temporary object those of a handle: of references, they keep those to handles. */
    void $sas$settle();

    /**
     * Reads the persistent fields of {@code from} into the plain fields of this, a fresh temporary object of the same
     * class.
     */
    void $sas$copy(SasObject from);

    /** Forgets the targets that fields keep, so that they no longer keep the targets' handles from the collector. */
    void $sas$drop();
}
