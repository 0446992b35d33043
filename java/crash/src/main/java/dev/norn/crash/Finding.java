package dev.norn.crash;

/** A violation that a round has found; ends the round. */
final class Finding extends RuntimeException {
    Finding(String what) {
        super(what);
    }
}
