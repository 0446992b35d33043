package dev.norn.sas.exception;

/** The object exists but its storage cannot be read. */
public class StorageReadFailure extends SASException {
    private static final long serialVersionUID = 1;

    public StorageReadFailure(String message) {
        super(message);
    }

    public StorageReadFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
