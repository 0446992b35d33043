package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.heap.Allocator;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.log.RedoRecord;
import dev.norn.sas.store.log.Unsynced;
import dev.norn.sas.store.memory.Latch;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.Recoverer;
import dev.norn.sas.store.memory.TransactionSlot;
import java.io.IOException;

/**
 * What living processes do for dead ones. A slot whose owner is gone is finished or undone from what it published, as
 * if it continued. Recovery uses the dead slot's own latches, so that when the recovering process dies too, the next
 * does the same again.
 *
 * <p>First, all latches of all dead slots are freed, after what they guard was put in order ({@link Latch#recover}). It
 * waits for no other slot. It decides which records count: a slot that died with the latch of the log's end is
 * COMMITTING afterwards if its record is whole, and ACTIVE if not; a slot that is COMMITTING without that latch has its
 * record counted by the end of the log. Then each slot is brought to its end, by its state:
 *
 * <pre>
 * state       record     what is done
 * FREE        -          the slot is given back
 * ACTIVE      -          undone; the next record overwrites what there is of one
 * ABORTING    -          undone, from the start again
 * COMMITTING  counted    synced, then as COMMITTED
 * COMMITTED   durable    freed storage is given back, locks are released
 * </pre>
 */
public final class Recovery implements Recoverer {
    private final AttachedStore store;
    private final Versions versions;

    Recovery(AttachedStore store) {
        this.store = store;
        versions = new Versions(store.pages());
    }

    /**
     * Recovers the slots of dead processes, and of ended threads of this one; alone among all processes. If another
     * process or thread recovers right now, that is left to it: so this never waits, and may be called by one who
     * holds a latch.
     */
    @Override
    public void reap() {
        store.slots().forgetGone();
        if (store.pages().attachments().isAlone()) {
            // The recovering thread waits for a latch of a slot whose owner has died since.
            store.pages().attachments().alone(this::freeLatches);
        } else if (isAnyLost()) {
            store.pages().attachments().tryAlone(this::reapAlone);
        }
    }

    private boolean isAnyLost() {
        for (int i = 0; i < SLOTS_MAX; i++) {
            if (isLost(i)) {
                return true;
            }
        }
        return store.snapshotReaders().isAnyGone();
    }

    /** Whether the one who has this slot is gone: his process, or his thread of this one. Costs a system call. */
    @Override
    public boolean isLost(int slot) {
        long owner = Memory.getVolatile(slotHead(slot) + SLOT_OWNER);
        return owner != 0 && (!store.pages().attachments().isAlive(owner) || store.slots().gone(slot) != null);
    }

    /** Latches come first, of all slots: who finishes one slot waits for latches that another one had. */
    public void reapAlone() throws IOException {
        freeLatches();
        for (int i = 0; i < SLOTS_MAX; i++) {
            if (isLost(i)) {
                // Only now, as one who lived a moment ago went on in it.
                recover(new TransactionSlot(store.pages(), i), store.slots().gone(i));
            }
        }
    }

    private void recover(TransactionSlot slot, StoreTransaction.Tenant gone) throws IOException {
        if (gone == null) {
            recover(slot);
            return;
        }
        gone.evict(() -> recoverOwn(slot));
        store.slots().forgetGone();
    }

    /** Puts in order what a latch guards that the slot has. */
    @Override
    public void settle(TransactionSlot slot, long word) throws IOException {
        if (word == CHECKPOINT_LATCH || word == LOG_LATCH && Latch.has(slot, CHECKPOINT_LATCH)) {
            // Both are held while the ring grows.
            store.log().recoverCheckpoint();
        }
        if (word == SYNC_LATCH) {
            store.log().recoverSyncing();
        }
        if (word == LOG_LATCH) {
            store.log().recoverAppending(slot);
        }
        if (Latch.isOfContainer(word)) {
            store.allocator().settleAllocation(slot);
            if (!Latch.isPage(word)) {
                Allocator.settle(word - CONTAINER_GROW_LATCH);
            }
        }
    }

    @Override
    public dev.norn.sas.exception.StorageWriteFailure cannotSettle(IOException cause) {
        return store.log().takeNoMoreChanges("cannot put the log in order after a change that failed", cause);
    }

    /** Never waits for another slot. Frees the places of dead readers, too. */
    void freeLatches() throws IOException {
        store.snapshotReaders().forgetGone();
        for (int i = 0; i < SLOTS_MAX; i++) {
            if (isLost(i)) {
                Latch.recover(new TransactionSlot(store.pages(), i));
            }
        }
    }

    private void recoverOwn(TransactionSlot slot) {
        try {
            recover(slot);
        } catch (IOException e) {
            throw new dev.norn.sas.exception.StorageReadFailure(
                    "cannot undo what an ended thread left in " + store + ": " + e.getMessage(), e);
        }
    }

    private void recover(TransactionSlot slot) throws IOException {
        // Again, for one who has died since.
        Latch.recover(slot);
        Memory.putVolatile(slot.head + SLOT_WAITS_FOR, 0);
        if (slot.state() == STATE_COMMITTING) {
            store.log().sync(slot, Memory.getLong(slot.head + SLOT_RECORD_END));
            markChanged(slot, Memory.getLong(slot.head + SLOT_RECORD_END));
            slot.state(STATE_COMMITTED);
        }
        if (slot.state() == STATE_COMMITTED) {
            finish(slot);
        } else if (slot.state() != STATE_FREE) {
            undo(slot);
        }
        slot.release();
    }

    /**
     * Takes back what the slot's transaction did, and then releases its locks. Allocates nothing in the store, and may
     * be done again when it was cut off.
     *
     * <p>Two walks, each the newest first. What was changed is restored before anything is freed: so whoever dies in
     * between leaves no list that names a freed entry, and the directory can be read all the time.
     */
    void undo(TransactionSlot slot) {
        if (slot.state() != STATE_UNDONE) {
            slot.state(STATE_ABORTING);
            meetContainers(slot);
            restoreImages(slot, 0);
            for (long entry = slot.newest(); entry != 0; entry = TransactionSlot.before(entry)) {
                giveBack(slot, entry);
            }
            // The next holder of one of its locks may change restored objects, so nothing is restored from here on.
            slot.state(STATE_UNDONE);
        }
        releaseLocks(slot);
    }

    /**
     * Makes the containers known that the transaction made: its objects in them are to be freed when the directory no
     * longer names these containers.
     */
    private void meetContainers(TransactionSlot slot) {
        for (long entry = slot.first(); entry < slot.end(); entry = TransactionSlot.next(entry)) {
            if (TransactionSlot.kind(entry) == ENTRY_CONTAINER) {
                store.ranges().meet(StoreTransaction.madeContainer(entry));
            }
        }
    }

    /**
     * Puts all images and parts of objects back that the stream has got since this place in it, the newest first. Looks
     * nothing up, and may be done again as long as {@link #giveBack} has freed none of these objects.
     */
    static void restoreImages(TransactionSlot slot, long mark) {
        for (long entry = slot.newest(); entry >= slot.first() + mark; entry = TransactionSlot.before(entry)) {
            if (TransactionSlot.kind(entry) == ENTRY_IMAGE) {
                restore(entry, TransactionSlot.offset(entry));
            } else if (TransactionSlot.kind(entry) == ENTRY_RANGE) {
                Memory.copy(entry + ENTRY_HEADER_BYTES, TransactionSlot.offset(entry), TransactionSlot.length(entry));
            }
        }
    }

    /** Gives the storage back that an entry says was taken. What was changed is restored already. */
    void giveBack(TransactionSlot slot, long entry) {
        long offset = TransactionSlot.offset(entry);
        switch (TransactionSlot.kind(entry)) {
            // It may be a part of a new object, whose place may be another's when this is done again.
            case ENTRY_RANGE -> TransactionSlot.markDone(entry);
            case ENTRY_ALLOCATION -> store.allocator().free(slot, store.ranges().of(offset), entry);
            case ENTRY_CONTAINER -> {
                Allocator.forsake(offset, Memory.getLong(entry + ENTRY_HEADER_BYTES + 4));
                store.ranges().forget(offset);
            }
            default -> {
                // An image, which is restored, or a lock.
            }
        }
    }

    /** Puts an object's first image back, all but its lock. */
    private static void restore(long entry, long offset) {
        long content = entry + ENTRY_HEADER_BYTES;
        int length = TransactionSlot.length(entry);
        Memory.putLong(offset, Memory.getLong(content));
        Memory.copy(content + OBJECT_HEADER_BYTES, offset + OBJECT_HEADER_BYTES, length - OBJECT_HEADER_BYTES);
    }

    /**
     * Says of all that the slot's transaction has changed up to where the log has to be durable for a reader, and keeps
     * versions of it for snapshots. Comes before the first lock is released; may be done again.
     */
    void markChanged(TransactionSlot slot, long end) {
        int objects = 0;
        for (long entry = slot.first(); entry < slot.end(); entry = TransactionSlot.next(entry)) {
            if (RedoRecord.isOfObject(entry)) {
                Unsynced.mark(TransactionSlot.offset(entry), end);
                objects++;
            }
            if (objects > Unsynced.WORDS) {
                Unsynced.markAll(end);
                break;
            }
        }
        versions.keep(slot, end);
    }

    /** Does what follows a durable commit: releases the locks, and gives freed storage back. */
    void finish(TransactionSlot slot) {
        releaseLocks(slot);
        for (long entry = slot.first(); entry < slot.end(); entry = TransactionSlot.next(entry)) {
            if (TransactionSlot.kind(entry) == ENTRY_FREE) {
                store.allocator().free(slot, store.ranges().of(TransactionSlot.offset(entry)), entry);
            }
        }
    }

    private void releaseLocks(TransactionSlot slot) {
        for (long entry = slot.first(); entry < slot.end(); entry = TransactionSlot.next(entry)) {
            int kind = TransactionSlot.kind(entry);
            if (kind == ENTRY_LOCK || kind == ENTRY_ALLOCATION) {
                release(slot, TransactionSlot.offset(entry));
            }
        }
    }

    /**
     * Gives a lock up, where there still is an object: recovery that was cut off may have given its storage back
     * before, and a transaction that waited for an object may find that the making of its container was undone.
     */
    private void release(TransactionSlot slot, long offset) {
        Range range = store.ranges().find(offset);
        if (range != null && range.startsAt(offset) && classOf(Memory.getLong(offset)) != CLASS_VALUE) {
            Locks.release(slot, offset);
        }
    }
}
