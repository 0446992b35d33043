package dev.norn.bobc;

/** A run that ended without figures; the message says which and how. */
final class RunFailed extends RuntimeException {
    RunFailed(String message) {
        super(message);
    }
}
