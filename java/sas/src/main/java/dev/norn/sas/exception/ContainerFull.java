package dev.norn.sas.exception;

/** The space that the container may take is used up. */
public final class ContainerFull extends ContainerException {
    private static final long serialVersionUID = 1;

    public ContainerFull(String message) {
        super(message);
    }

    public ContainerFull(String message, Throwable cause) {
        super(message, cause);
    }
}
