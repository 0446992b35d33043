package dev.norn.sas.exception;

/**
 * A read-only transaction has lasted while others changed more than the store keeps of what was before: what it reads
 * next is gone. {@link dev.norn.sas.Transaction#read} may be called again, and reads what is committed then.
 */
public final class SnapshotTooOld extends SASException {
    private static final long serialVersionUID = 1;

    public SnapshotTooOld(String message) {
        super(message);
    }
}
