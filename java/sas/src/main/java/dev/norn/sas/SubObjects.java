package dev.norn.sas;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.TemporaryReference;
import dev.norn.sas.runtime.CurrentStore.TemporaryTargets;
import dev.norn.sas.runtime.References;

/**
 * What happens when a reference to a temporary object is stored into a persistent one; an argument of {@link
 * Store#open(java.nio.file.Path, SubObjects)}.
 */
public enum SubObjects {
    /**
     * It becomes persistent near its owner, and so do the objects that it refers to.
     * {@link Store#open(java.nio.file.Path)} does this. An object that cannot be persistent is refused.
     */
    ADOPT(References::adopt),
    /**
     * The store is refused with a {@link SASException}: the program makes each persistent object by {@link Factory},
     * and decides where it is placed.
     */
    STRICT(References::refuse),
    /**
     * It stays temporary, as in the paper (section 2.4), and is kept alive until the store is closed. Then its contents
     * are lost: another JVM, or the next run, gets {@link TemporaryReference}. The standard error stream has a warning
     * for each class of such objects.
     */
    TEMPORARY(References::keepTemporary);

    private final TemporaryTargets targets;

    SubObjects(TemporaryTargets targets) {
        this.targets = targets;
    }

    TemporaryTargets targets() {
        return targets;
    }
}
