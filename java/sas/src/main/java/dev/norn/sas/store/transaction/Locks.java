package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.TransactionConflict;
import dev.norn.sas.store.heap.RangeTable;
import dev.norn.sas.store.memory.Backoff;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.TransactionSlot;
import dev.norn.sas.store.memory.WaitQueues;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;

/**
 * The locks of objects: a word in each object's header, with a bit for each slot that holds it, a bit for exclusive,
 * one that somebody waits for long, and a count of exclusive holders that lets readers outside transactions see that
 * nothing changed meanwhile.
 *
 * <p>A slot's undo stream names a lock before the slot takes it, so a dead owner's locks are found. Waiting is
 * announced in the slot: who waits follows the holders' announcements, and a circle back to itself is a deadlock.
 */
public final class Locks {
    private static final int COUNT_SHIFT = SLOTS_MAX;
    /**
     * A slot has waited for long: newcomers leave the object to the waiting slots. If it dies, the next who
     * waits takes the mark away.
     */
    private static final long WAITED = 1L << 62;
    private static final long COUNT = WAITED - 1 & ~LOCK_HOLDERS;
    /**
     * How long the first waiting thread lets others take the object before it. Handing the object over costs the time
     * of several transactions.
     */
    private static final long MARK_NANOS = 1_000_000;
    /** How often the first looks then: a thread of this JVM that releases the object wakes it. */
    private static final long MARKED_NANOS = 100_000;
    /** How often the later threads of the queue look for deadlocks and dead processes. */
    private static final long QUEUED_NANOS = 5_000_000;
    private static final long DEADLOCK_CHECK_NANOS = 500_000;
    private static final long DEAD_CHECK_NANOS = 20_000_000;

    /** @see Contention */
    final byte[] contended = new byte[Contention.PLACES];
    private final AttachedStore store;
    private final long timeoutNanos;

    public Locks(AttachedStore store, long timeoutNanos) {
        this.store = store;
        this.timeoutNanos = timeoutNanos;
    }

    /** Waits until the slot holds the object shared. The caller has published an entry that names it. */
    void shared(TransactionSlot slot, long reference) {
        if (!tryTake(slot, reference, 0, WAITED)) {
            await(slot, reference, 0);
        }
        recheck(slot, reference);
    }

    /** Waits until the slot holds the object alone. The caller has published an entry that names it. */
    void exclusive(TransactionSlot slot, long reference) {
        if (!tryTake(slot, reference, LOCK_EXCLUSIVE, WAITED)) {
            await(slot, reference, LOCK_EXCLUSIVE);
        }
        recheck(slot, reference);
    }

    /**
     * Takes the object unless others hold it in a way that excludes this.
     *
     * @param mode {@code LOCK_EXCLUSIVE}, or 0
     * @param respected {@link #WAITED} to leave the object to somebody who has waited for long; 0 to take it, and the
     *     mark from it
     */
    private boolean tryTake(TransactionSlot slot, long reference, long mode, long respected) {
        long word = offsetOf(reference) + OBJECT_LOCK;
        for (;;) {
            long value = look(reference);
            // Who holds it shared and wants it alone is not kept waiting by those who wait for him.
            boolean isLeft = (value & respected) != 0 && (value & slot.bit()) == 0;
            if (isLeft || isExcluded(value, slot, mode)) {
                return false;
            }
            if (Memory.compareAndSet(word, value, value & ~WAITED | mode | slot.bit())) {
                return true;
            }
        }
    }

    private static boolean isExcluded(long value, TransactionSlot slot, long mode) {
        return mode == 0 ? value < 0 : (value & LOCK_HOLDERS & ~slot.bit()) != 0;
    }

    /**
     * The lock word of an object that is there. The word is read first: an object that is destroyed meanwhile leaves
     * another word.
     */
    private long look(long reference) {
        long value = Memory.getVolatile(offsetOf(reference) + OBJECT_LOCK);
        store.requireObject(reference);
        return value;
    }

    /** With the lock held, no transaction can destroy the object any more; but it may have been destroyed before. */
    private void recheck(TransactionSlot slot, long reference) {
        if (!store.isObject(reference) || isDestroyed(Memory.getLong(offsetOf(reference)))) {
            release(slot, offsetOf(reference));
            throw RangeTable.destroyed(reference);
        }
    }

    /**
     * Whether another slot holds the object exclusively, as the first that does: the one that allocated it; or after
     * 2^14 others, or since the pool was made.
     */
    static boolean isOfFirstHolder(long value, TransactionSlot slot) {
        return value < 0 && (value & COUNT) == 0 && (value & slot.bit()) == 0;
    }

    /** Gives up what the slot holds of an object; nothing if it holds nothing. */
    static void release(TransactionSlot slot, long offset) {
        long word = offset + OBJECT_LOCK;
        for (;;) {
            long value = Memory.getVolatile(word);
            if ((value & slot.bit()) == 0) {
                return;
            }
            if (Memory.compareAndSet(word, value, value < 0 ? unlocked(value) : value & ~slot.bit())) {
                if ((value & WAITED) != 0) {
                    slot.pool().waitQueues().wakeFirst(offset);
                }
                return;
            }
        }
    }

    /** The word after its exclusive holder is gone: the count is one higher. */
    private static long unlocked(long value) {
        return value + (1L << COUNT_SHIFT) & COUNT | value & WAITED;
    }

    /**
     * Waits until the slot holds the object. Threads of this JVM that want the object queue up, and the first watches
     * it. A newcomer may take the object before the first. Once the first has waited for a millisecond, the object is
     * marked, and left to the waiting threads. A thread whose slot holds the object shared already waits beside the
     * queue.
     */
    private void await(TransactionSlot slot, long reference, long mode) {
        long offset = offsetOf(reference);
        boolean isUpgrade = (Memory.getVolatile(offset + OBJECT_LOCK) & slot.bit()) != 0;
        Memory.putVolatile(slot.head + SLOT_WAITS_FOR, offset);
        try {
            if (isUpgrade) {
                // Two that have read it and both want to change it are a circle at once.
                requireNoDeadlock(slot, reference);
                watch(new Patience(slot, reference), mode, null);
                return;
            }
            Queue<Thread> queue = store.pages().waitQueues().join(offset);
            try {
                watch(new Patience(slot, reference), mode, queue);
            } finally {
                store.pages().waitQueues().leave(offset);
            }
        } finally {
            Memory.putVolatile(slot.head + SLOT_WAITS_FOR, 0);
        }
    }

    /** Looks at the object until it is taken, whenever the thread is the first of the queue, or has none. */
    private void watch(Patience patience, long mode, Queue<Thread> queue) {
        int spins = 0;
        while (queue != null && !WaitQueues.isFirst(queue) || !tryTake(patience.slot, patience.reference, mode, 0)) {
            if (queue != null && !WaitQueues.isFirst(queue)) {
                LockSupport.parkNanos(this, QUEUED_NANOS);
            } else if (patience.isLong()) {
                mark(offsetOf(patience.reference));
                LockSupport.parkNanos(this, MARKED_NANOS);
            } else {
                Backoff.pause(spins++);
            }
            patience.look();
        }
    }

    private static void mark(long offset) {
        long value = Memory.getVolatile(offset + OBJECT_LOCK);
        if ((value & LOCK_HOLDERS) != 0 && (value & WAITED) == 0) {
            Memory.compareAndSet(offset + OBJECT_LOCK, value, value | WAITED);
        }
    }

    /** How long a thread waits for an object, and what ends the wait before it has the object. */
    private final class Patience {
        final TransactionSlot slot;
        final long reference;
        private final long start = System.nanoTime();
        private long deadlockCheck = start + DEADLOCK_CHECK_NANOS;
        private long deadCheck = start + DEAD_CHECK_NANOS;
        private long now = start;

        Patience(TransactionSlot slot, long reference) {
            this.slot = slot;
            this.reference = reference;
        }

        boolean isLong() {
            return now - start > MARK_NANOS;
        }

        /** @throws TransactionConflict in a deadlock, or after too long a time */
        void look() {
            now = System.nanoTime();
            if (now > deadlockCheck) {
                // The lock word stays when the transaction that allocated the object is undone.
                store.requireObject(reference);
                requireNoDeadlock(slot, reference);
                deadlockCheck = now + DEADLOCK_CHECK_NANOS;
            }
            if (now > deadCheck) {
                store.recovery().reap();
                deadCheck = System.nanoTime() + DEAD_CHECK_NANOS;
            }
            if (now - start > timeoutNanos) {
                throw new TransactionConflict("no lock within " + timeoutNanos / 1_000_000 + " ms on "
                        + describe(reference));
            }
        }
    }

    private void requireNoDeadlock(TransactionSlot slot, long reference) {
        if (isDeadlock(slot) && isDeadlockOfTheLiving(slot)) {
            throw new TransactionConflict("deadlock at " + describe(reference));
        }
    }

    /** The object, and whose transactions have locked it. */
    private String describe(long reference) {
        StringBuilder text = new StringBuilder("the ").append(Directory.className(store, reference)).append(" at ")
                .append(Long.toHexString(offsetOf(reference)));
        String before = ", locked by a transaction of ";
        for (long holders = Memory.getVolatile(offsetOf(reference) + OBJECT_LOCK) & LOCK_HOLDERS; holders != 0;
                holders &= holders - 1) {
            long owner = Memory.getVolatile(slotHead(Long.numberOfTrailingZeros(holders)) + SLOT_OWNER);
            text.append(before).append(store.pages().attachments().describe(owner));
            before = ", and of ";
        }
        return text.toString();
    }

    /** A dead waiter's announcement stays until the waiter is recovered, and would look like a deadlock until then. */
    private boolean isDeadlockOfTheLiving(TransactionSlot slot) {
        store.recovery().reap();
        return isDeadlock(slot);
    }

    /** Follows who waits for whom, from the holders of what the slot waits for. */
    private static boolean isDeadlock(TransactionSlot slot) {
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
        return offset == 0 ? 0 : Memory.getVolatile(offset + OBJECT_LOCK) & LOCK_HOLDERS;
    }

    /** A lock word that a reader outside transactions may read under; waits while somebody writes. */
    long quiet(long reference) {
        long offset = offsetOf(reference);
        long start = System.nanoTime();
        long deadCheck = start + DEAD_CHECK_NANOS;
        long value = Memory.getVolatile(offset + OBJECT_LOCK);
        for (int spins = 0; value < 0; spins++) {
            Backoff.pause(spins);
            long now = System.nanoTime();
            if (now > deadCheck) {
                store.recovery().reap();
                deadCheck = System.nanoTime() + DEAD_CHECK_NANOS;
            }
            if (now - start > timeoutNanos) {
                throw new TransactionConflict("no committed values within " + timeoutNanos / 1_000_000 + " ms of "
                        + describe(reference));
            }
            value = Memory.getVolatile(offset + OBJECT_LOCK);
        }
        return value & COUNT;
    }

    /** What {@link #quiet} would return for this lock word, were it quiet. */
    public static long countOf(long value) {
        return value & COUNT;
    }

    /** Whether no slot has held the object exclusively since {@link #quiet} returned this. */
    public static boolean isStill(long offset, long quiet) {
        java.lang.invoke.VarHandle.loadLoadFence();
        long value = Memory.getVolatile(offset + OBJECT_LOCK);
        return value >= 0 && (value & COUNT) == quiet;
    }
}
