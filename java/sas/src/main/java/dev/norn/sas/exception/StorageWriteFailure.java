package dev.norn.sas.exception;

/** The object exists but its storage cannot be written. The transaction has been rolled back. */
public class StorageWriteFailure extends SASException {
    private static final long serialVersionUID = 1;

    public StorageWriteFailure(String message) {
        super(message);
    }

    public StorageWriteFailure(String message, Throwable cause) {
        super(message, cause);
    }
}
