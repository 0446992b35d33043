package dev.norn.sas.exception;

/** The container is inconsistent and has to be repaired or restored first. Other containers stay usable. */
public final class ContainerDamaged extends ContainerException {
    private static final long serialVersionUID = 1;

    public ContainerDamaged(String message) {
        super(message);
    }

    public ContainerDamaged(String message, Throwable cause) {
        super(message, cause);
    }
}
