package dev.norn.crash.model;

/** A Java array of numbers in a chain. */
final class Block {
    private final long[] ids;
    private final Block older;

    Block(long[] ids, Block older) {
        this.ids = ids;
        this.older = older;
    }

    Block older() {
        return older;
    }

    void copyTo(long[] to, int start) {
        System.arraycopy(ids, 0, to, start, ids.length);
    }
}
