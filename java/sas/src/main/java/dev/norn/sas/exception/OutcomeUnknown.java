package dev.norn.sas.exception;

/**
 * A commit whose acknowledgement was lost when the leader of a group of replicas changed: the transaction is committed,
 * or it never will be. The members of the group say which, by its {@link #epoch} and {@link #number}: {@code
 * Group.outcome}.
 */
public final class OutcomeUnknown extends SASException {
    private static final long serialVersionUID = 1;

    private final long epoch;
    private final long number;

    public OutcomeUnknown(String message, long epoch, long number, Throwable cause) {
        super(message, cause);
        this.epoch = epoch;
        this.number = number;
    }

    /** Of the leader that the transaction ran at. */
    public long epoch() {
        return epoch;
    }

    /** Among all transactions of the group, if it is committed. */
    public long number() {
        return number;
    }
}
