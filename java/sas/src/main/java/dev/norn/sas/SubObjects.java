package dev.norn.sas;

/** What happens when a reference to a temporary object is stored into a persistent one; an argument of {@link Store#open(java.nio.file.Path, SubObjects)}. */
public enum SubObjects {
    /**
     * It stays temporary, as in the paper (section 2.4), and is kept alive until the store is closed. Then what it had is lost: another JVM, or the next run, gets
     * {@link TemporaryReference}.
     */
    TEMPORARY,
    /** The store is refused with a {@link SASException}. */
    STRICT,
    /** It becomes persistent beside its owner. */
    ADOPT
}
