package dev.norn.sas.exception;

/** A condition of a whole container. */
public class ContainerException extends SASException {
    private static final long serialVersionUID = 1;

    public ContainerException(String message) {
        super(message);
    }

    public ContainerException(String message, Throwable cause) {
        super(message, cause);
    }
}
