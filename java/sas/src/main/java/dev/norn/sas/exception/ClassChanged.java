package dev.norn.sas.exception;

/** A class does not have the layout that the store's instances of it have. */
public final class ClassChanged extends SASException {
    private static final long serialVersionUID = 1;

    public ClassChanged(String message) {
        super(message);
    }

    public ClassChanged(String message, Throwable cause) {
        super(message, cause);
    }
}
