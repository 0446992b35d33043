package dev.norn.crash.model;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;

/** In a chain whose newest element has the name of a root, and a new one with each append. */
final class RootRegister extends Register {
    private final String name;

    RootRegister(String name) {
        this.name = name;
    }

    private Link newest() {
        return Store.current().root(name, Link.class);
    }

    @Override
    void put(int index, long id) {
        Store.current().setRoot(name, Factory.newInstanceNear(Link.class, this, id, newest()));
    }

    @Override
    long[] all() {
        int count = 0;
        for (Link at = newest(); at != null; at = at.older()) {
            count++;
        }
        long[] all = new long[count];
        for (Link at = newest(); at != null; at = at.older()) {
            all[--count] = at.id();
        }
        return all;
    }
}
