package dev.norn.sas;

/**
 * No store is open, or the one that is meant is closed, or is being closed by another thread: no transaction can begin
 * in it, and its handles are of no use.
 */
public final class StoreClosed extends SASException {
    private static final long serialVersionUID = 1;

    public StoreClosed(String message) {
        super(message);
    }
}
