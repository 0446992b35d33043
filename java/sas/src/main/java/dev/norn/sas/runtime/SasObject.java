package dev.norn.sas.runtime;

/** What the agent adds to every class whose instances may be persistent. Not to be implemented by hand. */
public interface SasObject {
    /** The reference of the persistent object that this is a handle of; 0 for a temporary object. */
    long $sas$reference();

    /** Null for a temporary object. */
    Grant $sas$grant();

    void $sas$grant(Grant grant);

    /** Makes this object a handle. The grant comes later, and with it others see that it is one. */
    void $sas$bind(long reference);

    /** Writes the plain fields into the store, and clears those that are references. */
    void $sas$store(Promotion promotion);

    /** Reads the persistent fields of {@code from} into the plain fields of this, a fresh temporary object of the same class. */
    void $sas$copy(SasObject from);
}
