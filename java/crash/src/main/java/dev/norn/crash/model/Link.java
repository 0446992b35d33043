package dev.norn.crash.model;

/** An element of a chain. In some stores its class has a field more, see {@code ProgramJar}. */
final class Link {
    private final long id;
    private final Link older;

    Link(long id, Link older) {
        this.id = id;
        this.older = older;
    }

    long id() {
        return id;
    }

    Link older() {
        return older;
    }
}
