package dev.norn.sas.exception;

/**
 * No store is open, or this store is closed or being closed by another thread. No transaction can begin in it, and its
 * handles cannot be used.
 */
public final class StoreClosed extends SASException {
    private static final long serialVersionUID = 1;

    public StoreClosed(String message) {
        super(message);
    }
}
