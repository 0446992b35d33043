package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.memory.Memory;

/**
 * Who reads snapshots: this JVM's number of them, and a bit in shared memory while that is not 0, which has commits
 * keep versions. The bit of a process that died is taken away by recovery; until then, versions are kept for nobody.
 */
final class SnapshotReaders {
    private static final int NONE = -1;

    private final AttachedStore store;
    private int count;
    private int place = NONE;

    SnapshotReaders(AttachedStore store) {
        this.store = store;
    }

    /** From when this returns, each commit that gets its place in the log keeps versions. */
    synchronized void enter() {
        if (count == 0) {
            place = claim();
            setBit(place);
        }
        count++;
    }

    synchronized void leave() {
        if (--count == 0) {
            giveBack();
        }
    }

    /** The store is detached: what its readers do next fails. */
    synchronized void close() {
        if (count > 0) {
            giveBack();
        }
    }

    private void giveBack() {
        if (place != NONE) {
            Memory.andAtomic(SNAPSHOTS, ~(1L << place));
            Memory.putVolatile(owner(place), 0);
            place = NONE;
        }
    }

    private static long owner(int place) {
        return READERS + place * 8L;
    }

    private int claim() {
        for (int attempt = 0; attempt < 2; attempt++) {
            for (int i = 0; i < READERS_MAX; i++) {
                if (Memory.compareAndSet(owner(i), 0, store.incarnation())) {
                    return i;
                }
            }
            store.recovery().reap();
        }
        throw new SASException("read-only transactions run in " + READERS_MAX + " programs that use " + store
                + ": more are not possible");
    }

    private static void setBit(int place) {
        for (;;) {
            long bits = Memory.getVolatile(SNAPSHOTS);
            if (Memory.compareAndSet(SNAPSHOTS, bits, bits | 1L << place)) {
                return;
            }
        }
    }

    /** Whether a process has died that read snapshots. Costs a system call for each process that does. */
    boolean isAnyGone() {
        for (int i = 0; i < READERS_MAX; i++) {
            if (isGone(i)) {
                return true;
            }
        }
        return false;
    }

    private boolean isGone(int place) {
        long owner = Memory.getVolatile(owner(place));
        return owner != 0 && !store.pages().attachments().isAlive(owner);
    }

    /** Takes away what dead processes left; alone among all processes. */
    void forgetGone() {
        for (int i = 0; i < READERS_MAX; i++) {
            if (isGone(i)) {
                Memory.andAtomic(SNAPSHOTS, ~(1L << i));
                Memory.putVolatile(owner(i), 0);
            }
        }
    }
}
