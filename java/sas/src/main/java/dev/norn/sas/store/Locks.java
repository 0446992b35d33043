package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import dev.norn.sas.TransactionConflict;

/**
 * The locks of objects: a word in each object's header, with a bit for each slot that holds it, a bit for exclusive,
 * and a count of exclusive holders that lets readers outside transactions see that nothing changed meanwhile.
 *
 * <p>A slot's undo stream names a lock before the slot takes it, so a dead owner's locks are found. Waiting is
 * announced in the slot: who waits follows the holders' announcements, and a circle back to itself is a deadlock.
 */
final class Locks {
    static final long EXCLUSIVE = 1L << 63;
    static final long HOLDERS = (1L << SLOTS_MAX) - 1;
    private static final int COUNT_SHIFT = SLOTS_MAX;
    private static final long COUNT = (1L << 63) - 1 & ~HOLDERS;
    private static final long DEADLOCK_CHECK_NANOS = 500_000;
    private static final long DEAD_CHECK_NANOS = 20_000_000;

    private final Pool pool;
    private final long timeoutNanos;

    Locks(Pool pool, long timeoutNanos) {
        this.pool = pool;
        this.timeoutNanos = timeoutNanos;
    }

    /** Waits until the slot holds the object shared. The caller has published an entry that names it. */
    void shared(Slot slot, long reference) {
        long offset = offsetOf(reference);
        for (;;) {
            long value = look(reference);
            if (value < 0) {
                await(slot, reference, 0);
            } else if (Memory.compareAndSet(offset + OBJECT_LOCK, value, value | slot.bit())) {
                recheck(slot, reference);
                return;
            }
        }
    }

    /** Waits until the slot holds the object alone. The caller has published an entry that names it. */
    void exclusive(Slot slot, long reference) {
        long offset = offsetOf(reference);
        for (;;) {
            long value = look(reference);
            if (!isFreeFor(value, slot)) {
                await(slot, reference, slot.bit());
            } else if (Memory.compareAndSet(offset + OBJECT_LOCK, value, EXCLUSIVE | value | slot.bit())) {
                recheck(slot, reference);
                return;
            }
        }
    }

    /**
     * The lock word of an object that is there. It is read first: an object that goes meanwhile leaves another word
     * behind.
     */
    private long look(long reference) {
        long value = Memory.getVolatile(offsetOf(reference) + OBJECT_LOCK);
        pool.requireObject(reference);
        return value;
    }

    /** With the lock, nobody can destroy the object any more; but somebody may have done so before. */
    private void recheck(Slot slot, long reference) {
        if (!pool.isObject(reference) || isDestroyed(Memory.getLong(offsetOf(reference)))) {
            release(slot, offsetOf(reference));
            throw Pool.destroyed(reference);
        }
    }

    /** Nobody else holds the object; the slot itself may hold it in any way already. */
    private static boolean isFreeFor(long value, Slot slot) {
        return (value & HOLDERS & ~slot.bit()) == 0;
    }

    /**
     * Whether another slot holds the object exclusively, as the first that does: the one that allocated it; or after
     * 2^15 others, or since the pool was made.
     */
    static boolean isOfFirstHolder(long value, Slot slot) {
        return value < 0 && (value & COUNT) == 0 && (value & slot.bit()) == 0;
    }

    /** Gives up what the slot holds of an object; nothing if it holds nothing. */
    static void release(Slot slot, long offset) {
        long word = offset + OBJECT_LOCK;
        long value = Memory.getVolatile(word);
        if ((value & slot.bit()) == 0) {
            return;
        }
        if (value < 0) {
            Memory.putRelease(word, unlocked(value));
        } else {
            Memory.andAtomic(word, ~slot.bit());
        }
    }

    /** The word after its exclusive holder is gone: the count is one higher. */
    private static long unlocked(long value) {
        return value + (1L << COUNT_SHIFT) & COUNT;
    }

    /** Waits while others hold the object: all of them, or its exclusive holder if {@code own} is 0. */
    private void await(Slot slot, long reference, long own) {
        long offset = offsetOf(reference);
        long start = System.nanoTime();
        // Two that have read it and both want to change it are a circle at once.
        boolean isUpgrade = (Memory.getVolatile(offset + OBJECT_LOCK) & own) != 0;
        long deadlockCheck = isUpgrade ? start : start + DEADLOCK_CHECK_NANOS;
        long deadCheck = start + DEAD_CHECK_NANOS;
        Memory.putVolatile(slot.head + SLOT_WAITS_FOR, offset);
        try {
            for (int spins = 0; isHeld(offset, own); spins++) {
                long now = System.nanoTime();
                if (now >= deadlockCheck) {
                    // One that was allocated by a transaction that was undone leaves its lock word behind.
                    pool.requireObject(reference);
                    if (isDeadlock(slot) && isDeadlockOfTheLiving(slot)) {
                        throw new TransactionConflict("deadlock at " + describe(reference));
                    }
                    deadlockCheck = now + DEADLOCK_CHECK_NANOS;
                }
                if (now > deadCheck) {
                    pool.recovery().reap();
                    deadCheck = System.nanoTime() + DEAD_CHECK_NANOS;
                }
                if (now - start > timeoutNanos) {
                    throw new TransactionConflict("no lock within " + timeoutNanos / 1_000_000 + " ms on " + describe(reference));
                }
                pool.idle(spins);
            }
        } finally {
            Memory.putVolatile(slot.head + SLOT_WAITS_FOR, 0);
        }
    }

    /** The object, and whose transactions have locked it. */
    private String describe(long reference) {
        StringBuilder text = new StringBuilder("the ").append(Inspection.className(pool, reference)).append(" at ").append(Long.toHexString(offsetOf(reference)));
        String before = ", locked by a transaction of ";
        for (long holders = Memory.getVolatile(offsetOf(reference) + OBJECT_LOCK) & HOLDERS; holders != 0; holders &= holders - 1) {
            long owner = Memory.getVolatile(slotHead(Long.numberOfTrailingZeros(holders)) + SLOT_OWNER);
            text.append(before).append(pool.attachments().describe(owner));
            before = ", and of ";
        }
        return text.toString();
    }

    private static boolean isHeld(long offset, long own) {
        long value = Memory.getVolatile(offset + OBJECT_LOCK);
        return own == 0 ? value < 0 : (value & HOLDERS & ~own) != 0;
    }

    /** A dead waiter's announcement stays until he is recovered, and would make a circle for ever. */
    private boolean isDeadlockOfTheLiving(Slot slot) {
        pool.recovery().reap();
        return isDeadlock(slot);
    }

    /** Follows who waits for whom, from the holders of what the slot waits for. */
    private static boolean isDeadlock(Slot slot) {
        long seen = 0;
        long open = holders(slot.index) & ~slot.bit();
        while (open != 0) {
            int next = Long.numberOfTrailingZeros(open);
            seen |= 1L << next;
            long behind = holders(next) & ~(1L << next);
            if ((behind & slot.bit()) != 0) {
                return true;
            }
            open = (open | behind) & ~seen;
        }
        return false;
    }

    private static long holders(int slot) {
        long offset = Memory.getVolatile(slotHead(slot) + SLOT_WAITS_FOR);
        return offset == 0 ? 0 : Memory.getVolatile(offset + OBJECT_LOCK) & HOLDERS;
    }

    /** A lock word that a reader outside transactions may read under; waits while somebody writes. */
    long quiet(long reference) {
        long offset = offsetOf(reference);
        long start = System.nanoTime();
        long deadCheck = start + DEAD_CHECK_NANOS;
        long value = Memory.getVolatile(offset + OBJECT_LOCK);
        for (int spins = 0; value < 0; spins++) {
            pool.idle(spins);
            long now = System.nanoTime();
            if (now > deadCheck) {
                pool.recovery().reap();
                deadCheck = System.nanoTime() + DEAD_CHECK_NANOS;
            }
            if (now - start > timeoutNanos) {
                throw new TransactionConflict("no committed values within " + timeoutNanos / 1_000_000 + " ms of " + describe(reference));
            }
            value = Memory.getVolatile(offset + OBJECT_LOCK);
        }
        return value & COUNT;
    }

    /** What {@link #quiet} would return for this lock word, were it quiet. */
    static long countOf(long value) {
        return value & COUNT;
    }

    /** Whether nobody has held the object exclusively since {@link #quiet} returned this. */
    static boolean isStill(long offset, long quiet) {
        java.lang.invoke.VarHandle.loadLoadFence();
        long value = Memory.getVolatile(offset + OBJECT_LOCK);
        return value >= 0 && (value & COUNT) == quiet;
    }
}
