package dev.norn.sas.exception;

/** The object no longer exists: a dangling reference was followed, or a handle outlived its object. */
public final class ObjectDestroyed extends SASException {
    private static final long serialVersionUID = 1;

    public ObjectDestroyed(String message) {
        super(message);
    }

    public ObjectDestroyed(String message, Throwable cause) {
        super(message, cause);
    }
}
