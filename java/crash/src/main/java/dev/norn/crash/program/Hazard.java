package dev.norn.crash.program;

/** What a round may do besides random transactions and random kills. Each can be left out. */
public enum Hazard {
    /** A JVM is killed, or pauses, at a step. */
    STEPS,
    /** A JVM is stopped with SIGSTOP for a while. */
    FREEZE,
    /** The pool is thrown away while all JVMs are dead. */
    DISCARD,
    /** A backup is made beside the writers, and opened. */
    BACKUP,
    /** The log or a container of a copy is damaged. */
    DAMAGE,
    /** The store is converted to changed classes. */
    CONVERSION,
    /** A nested run throws, and the outer one continues. */
    SAVEPOINTS,
    /** The store is closed and opened again while threads use it. */
    REOPEN,
    /** Keys of maps are adopted, and hash by identity. */
    IDENTITY,
    /** Long chains are adopted. */
    DEEP,
    /** Classes have their first objects in the random transactions. */
    FRESH_CLASSES
}
