package dev.norn.sas.exception;

/** What became of a transaction that an {@link OutcomeUnknown} names, as the members of its group know. */
public enum Outcome {
    /** It counts, for good. */
    COMMITTED,
    /** It never will count. */
    UNDONE,
    /** Nobody knows yet: its leader's epoch has not ended, as far as those know that were asked. Ask again. */
    NOT_YET,
    /** Its epoch ended so long ago that nobody remembers how: 32 others have ended since. */
    FORGOTTEN
}
