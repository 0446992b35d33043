package dev.norn.crash;

/** Something that must not be; ends the round. */
final class Finding extends RuntimeException {
    Finding(String what) {
        super(what);
    }
}
