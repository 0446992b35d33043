package dev.norn.sas.store.memory;

import dev.norn.sas.exception.StorageWriteFailure;
import java.io.IOException;

/**
 * What latches ask of recovery, which knows what they guard: the log and the containers are built on latches, so they
 * are not known here.
 */
public interface Recoverer {
    /** Puts in order what a latch guards that the slot has. Never waits; doing it twice is harmless. */
    void settle(TransactionSlot slot, long word) throws IOException;

    /** Notes that what a latch guards could not be put in order: the store takes no more changes. */
    StorageWriteFailure cannotSettle(IOException cause);

    /** Whether the owner of the slot with this number is gone. Costs a system call. */
    boolean isLost(int slot);

    /**
     * Recovers what dead processes and threads left, unless another thread or process does so right now. Never waits.
     */
    void reap();
}
