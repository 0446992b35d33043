package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import java.io.IOException;

/**
 * What the living do for the dead. A slot whose owner is gone is finished or undone from what it published, as if it went on; who recovers uses the
 * dead slot's own latches, so that when he dies too, the next does the same again.
 *
 * <pre>
 * state       record                         what is done
 * FREE        -                              the slot is given back
 * ACTIVE      -                              undone
 * ABORTING    -                              undone, from the start again
 * COMMITTING  counted by the log's tail,     synced, then as COMMITTED
 *             or valid right behind it
 * COMMITTING  not                            undone; the next record overwrites what there is
 * COMMITTED   durable                        freed storage is given back, locks are released
 * </pre>
 */
final class Recovery {
    private final Pool pool;

    Recovery(Pool pool) {
        this.pool = pool;
    }

    /** Recovers the slots of dead processes, and of ended threads of this one; alone among all processes. */
    void reap() {
        if (Pool.isExclusive()) {
            return;
        }
        for (int i = 0; i < SLOTS_MAX; i++) {
            long owner = Memory.getVolatile(slotHead(i) + SLOT_OWNER);
            if (owner != 0 && (!Owner.isAlive(owner) || pool.gone(i) != null)) {
                pool.exclusively(this::reapLocked);
                return;
            }
        }
    }

    void reapLocked() throws IOException {
        for (int i = 0; i < SLOTS_MAX; i++) {
            Slot slot = new Slot(pool, i);
            Work.Tenant gone = pool.gone(i);
            if (gone != null) {
                pool.tenant(i, null);
                gone.evict(() -> recoverOwn(slot));
            } else if (slot.owner() != 0 && !Owner.isAlive(slot.owner())) {
                recover(slot);
            }
        }
        for (int i = 0; i < PROCESSES_MAX; i++) {
            long word = PROCESSES + i * 8L;
            long owner = Memory.getVolatile(word);
            if (owner != 0 && !Owner.isAlive(owner)) {
                Memory.compareAndSet(word, owner, 0);
            }
        }
    }

    private void recoverOwn(Slot slot) {
        try {
            recover(slot);
        } catch (IOException e) {
            throw new dev.norn.sas.StorageReadFailure("cannot undo what an ended thread left in " + pool + ": " + e.getMessage(), e);
        }
    }

    private void recover(Slot slot) throws IOException {
        unlatch(slot);
        Memory.putVolatile(slot.head + SLOT_WAITS_FOR, 0);
        long state = slot.state();
        if (state == STATE_COMMITTING && isCommitted(slot)) {
            pool.log().sync(slot, Memory.getLong(slot.head + SLOT_RECORD_END));
            slot.state(STATE_COMMITTED);
            state = STATE_COMMITTED;
        }
        if (state == STATE_COMMITTED) {
            finish(slot);
        } else if (state != STATE_FREE) {
            undo(slot);
        }
        slot.release();
    }

    /** Gives back what the slot has of latches, the inner one first, and brings what they guard in order. */
    private void unlatch(Slot slot) throws IOException {
        long latch = Memory.getVolatile(slot.head + SLOT_LATCH);
        boolean isInCheckpoint = slot.has(CHECKPOINT_LATCH);
        if (isInCheckpoint) {
            pool.log().recoverCheckpoint();
        }
        if (slot.has(latch)) {
            if (latch == LOG_LATCH) {
                pool.log().recoverAppending(slot);
            }
            slot.unlatch(latch);
        }
        if (isInCheckpoint) {
            slot.unlatch(CHECKPOINT_LATCH);
        }
    }

    /** The tail decides under the log's latch, so that no other record comes into the place meanwhile. */
    private boolean isCommitted(Slot slot) throws IOException {
        slot.latch(LOG_LATCH);
        try {
            pool.log().recoverAppending(slot);
            return Memory.getLong(slot.head + SLOT_RECORD_END) <= Memory.getLong(LOG_TAIL);
        } finally {
            slot.unlatch(LOG_LATCH);
        }
    }

    /** Takes back what the slot's transaction did, newest first, and then releases its locks. */
    void undo(Slot slot) {
        slot.state(STATE_ABORTING);
        slot.forEachBackwards(entry -> undo(slot, entry));
        releaseLocks(slot);
    }

    /** Takes back what an entry says was done. */
    void undo(Slot slot, long entry) {
        long offset = Slot.offset(entry);
        switch (Slot.kind(entry)) {
            case ENTRY_IMAGE -> restore(entry, offset);
            case ENTRY_RANGE -> Memory.copy(entry + ENTRY_HEADER_BYTES, offset, Slot.length(entry));
            case ENTRY_ALLOCATION -> pool.heap().free(slot, pool.rangeOf(offset), entry);
            case ENTRY_CONTAINER -> {
                Heap.forsake(offset, Memory.getLong(entry + ENTRY_HEADER_BYTES + 4));
                pool.forget(offset);
            }
            default -> {
                // A lock.
            }
        }
    }

    /** Puts an object's first image back, all but its lock. */
    private static void restore(long entry, long offset) {
        long content = entry + ENTRY_HEADER_BYTES;
        int length = Slot.length(entry);
        Memory.putLong(offset, Memory.getLong(content));
        Memory.copy(content + OBJECT_HEADER_BYTES, offset + OBJECT_HEADER_BYTES, length - OBJECT_HEADER_BYTES);
    }

    /** Does what follows a durable commit: releases the locks, and gives freed storage back. */
    void finish(Slot slot) {
        releaseLocks(slot);
        for (long entry = slot.first(); entry < slot.end(); entry = Slot.next(entry)) {
            if (Slot.kind(entry) == ENTRY_FREE) {
                pool.heap().free(slot, pool.rangeOf(Slot.offset(entry)), entry);
            }
        }
    }

    private void releaseLocks(Slot slot) {
        for (long entry = slot.first(); entry < slot.end(); entry = Slot.next(entry)) {
            int kind = Slot.kind(entry);
            if (kind == ENTRY_LOCK || kind == ENTRY_ALLOCATION) {
                release(slot, Slot.offset(entry));
            }
        }
    }

    /** Gives a lock up, where there still is an object: recovery that was cut off may have given its storage back before. */
    private void release(Slot slot, long offset) {
        if (pool.rangeOf(offset).startsAt(offset) && classOf(Memory.getLong(offset)) != CLASS_VALUE) {
            Locks.release(slot, offset);
        }
    }
}
