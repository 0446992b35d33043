package dev.norn.sas.runtime;

/**
 * What a handle shows to be let through: which thread may read or write the object now. A transaction has one grant for objects that it holds shared and one for
 * those that it holds exclusively; both lose their threads at its end, so that a handle needs no reset.
 */
public final class Grant {
    /** Of handles that no transaction has locked. */
    public static final Grant NONE = new Grant();

    Thread reader;
    Thread writer;

    void end() {
        reader = null;
        writer = null;
    }
}
