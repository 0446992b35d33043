package dev.norn.crash.model;

import dev.norn.sas.Factory;

/**
 * In a chain of objects, newest first. Some of the oldest are now and then destroyed and replaced by one Java array.
 */
final class ChainRegister extends Register {
    private static final int LOOSE_MAX = 24;
    private Link newest;
    private int loose;
    private Block blocks;

    @Override
    void put(int index, long id) {
        // One is created as persistent, the other one is adopted.
        newest = index % 2 == 0 ? Factory.newInstanceNear(Link.class, this, id, newest) : new Link(id, newest);
        loose++;
        if (loose == LOOSE_MAX) {
            pack();
        }
    }

    private void pack() {
        long[] ids = new long[LOOSE_MAX];
        Link at = newest;
        newest = null;
        for (int i = LOOSE_MAX - 1; i >= 0; i--) {
            ids[i] = at.id();
            Link older = at.older();
            Factory.destroyInstance(at);
            at = older;
        }
        if (at != null) {
            throw new IllegalStateException("the chain is longer than " + LOOSE_MAX);
        }
        blocks = new Block(ids, blocks);
        loose = 0;
    }

    @Override
    long[] all() {
        int count = loose;
        for (Block at = blocks; at != null; at = at.older()) {
            count += LOOSE_MAX;
        }
        long[] all = new long[count];
        for (Link at = newest; at != null; at = at.older()) {
            all[--count] = at.id();
        }
        for (Block at = blocks; at != null; at = at.older()) {
            count -= LOOSE_MAX;
            at.copyTo(all, count);
        }
        return all;
    }
}
