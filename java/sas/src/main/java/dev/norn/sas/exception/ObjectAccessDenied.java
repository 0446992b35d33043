package dev.norn.sas.exception;

/** A store into an object, or a use of it, that the caller has no right to. */
public final class ObjectAccessDenied extends SASException {
    private static final long serialVersionUID = 1;

    public ObjectAccessDenied(String message) {
        super(message);
    }

    public ObjectAccessDenied(String message, Throwable cause) {
        super(message, cause);
    }
}
