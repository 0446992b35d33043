package dev.norn.sas.exception;

/**
 * A deadlock, or a lock that was not granted in time. The transaction has to be aborted and may be run again, as
 * {@link dev.norn.sas.Transaction#run} does.
 */
public final class TransactionConflict extends SASException {
    private static final long serialVersionUID = 1;

    public TransactionConflict(String message) {
        super(message);
    }

    public TransactionConflict(String message, Throwable cause) {
        super(message, cause);
    }
}
