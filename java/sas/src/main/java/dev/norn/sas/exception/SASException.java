package dev.norn.sas.exception;

/** What the store throws. Unchecked, as in the paper (section 2.5): ending the thread is the right default. */
public class SASException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public SASException(String message) {
        super(message);
    }

    public SASException(String message, Throwable cause) {
        super(message, cause);
    }
}
