package dev.norn.sas.exception;

/**
 * A change at a store that is in a group of replicas, and does not lead it: nothing was changed. Where it can be made
 * is where another member leads.
 */
public final class NotLeader extends StorageWriteFailure {
    private static final long serialVersionUID = 1;

    private enum Remedy { WAIT, REOPEN }

    private final Remedy remedy;

    private NotLeader(String message, Remedy remedy) {
        super(message);
        this.remedy = remedy;
    }

    /** The store follows. It may lead later, and take changes then. */
    public static NotLeader follows(String store) {
        return new NotLeader("the store " + store + " follows the leader of its group: Transaction.read reads it, and "
                + "changes are the leader's", Remedy.WAIT);
    }

    /** The store has led. */
    public static NotLeader hasLed() {
        return new NotLeader("this store does not lead its group any more: close it and open it again",
                Remedy.REOPEN);
    }

    /** The process that connects the store with its group has ended. */
    public static NotLeader isAlone() {
        return new NotLeader("the process has ended that connects this store with its group, `sas server` or a member: "
                + "close it, and open it again when there is one", Remedy.REOPEN);
    }

    /**
     * Whether the store has to be closed and opened again, by all programs that use it, before it takes changes: it has
     * led, and has what was never acknowledged, or nothing connects it with its group.
     */
    public boolean mustReopen() {
        return remedy == Remedy.REOPEN;
    }
}
