package dev.norn.sas.exception;

/** A persistent field was read that refers to a temporary object of another JVM, or of an earlier run. */
public final class TemporaryReference extends SASException {
    private static final long serialVersionUID = 1;

    public TemporaryReference(String message) {
        super(message);
    }

    public TemporaryReference(String message, Throwable cause) {
        super(message, cause);
    }
}
