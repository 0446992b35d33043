package dev.norn.sas;

/**
 * What happens when a reference to a temporary object is stored into a persistent one; an argument of {@link
 * Store#open(java.nio.file.Path, SubObjects)}.
 */
public enum SubObjects {
    /**
     * It becomes persistent near its owner, and so do the objects that it refers to.
     * {@link Store#open(java.nio.file.Path)} does this. An object that cannot be persistent is refused.
     */
    ADOPT,
    /**
     * The store is refused with a {@link SASException}: the program makes each persistent object by {@link Factory},
     * and decides where it is placed.
     */
    STRICT,
    /**
     * It stays temporary, as in the paper (section 2.4), and is kept alive until the store is closed. Then its contents
     * are lost: another JVM, or the next run, gets {@link TemporaryReference}. The standard error stream has a warning
     * for each class of such objects.
     */
    TEMPORARY
}
