package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StoreClosed;
import dev.norn.sas.store.memory.Backoff;
import dev.norn.sas.store.memory.Latch;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.StackRoom;
import dev.norn.sas.store.memory.TransactionSlot;
import dev.norn.sas.store.memory.WaitQueues;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

/**
 * The slots of a store as this JVM uses them: which of its transactions has which, and who waits for one while all are
 * taken.
 */
public final class SlotTable {
    /** How long the first thread that waits for a slot lets others have one before it. */
    private static final long OVERTAKEN_NANOS = 1_000_000;
    /** How often the later threads of the queue look whether the store is closed. */
    private static final long QUEUED_NANOS = 20_000_000;
    /** Room on the stack for claiming a slot, and for giving it back. */
    private static final int FRAMES = 6;
    /** The tenant of a slot that this JVM uses for itself. */
    private static final StoreTransaction.Tenant SELF = tenant("the store itself", true);
    /** Whose a transaction is whose end failed half-way. */
    private static final StoreTransaction.Tenant NOBODY = tenant("a transaction whose end failed", false);

    private static StoreTransaction.Tenant tenant(String name, boolean isAlive) {
        return new StoreTransaction.Tenant() {
            @Override
            public boolean isAlive() {
                return isAlive;
            }

            @Override
            public void evict(Runnable undo) {
                undo.run();
            }

            @Override
            public String toString() {
                return name;
            }
        };
    }

    private final AttachedStore store;
    /** Of each slot that this JVM has or is about to claim, whose it is. */
    private final AtomicReferenceArray<StoreTransaction.Tenant> tenants = new AtomicReferenceArray<>(SLOTS_MAX);
    /** The first who waits for a slot has waited for long. */
    private volatile boolean isWaitedFor;

    SlotTable(AttachedStore store) {
        this.store = store;
    }

    /** Claims a slot for something that this JVM does on its own. */
    public TransactionSlot claim() {
        return claim(SELF);
    }

    /**
     * Claims a slot; waits while all are taken.
     *
     * @throws StoreClosed if the store is closed, or about to be
     */
    TransactionSlot claim(StoreTransaction.Tenant its) {
        StackRoom.require(FRAMES);
        TransactionSlot slot = isWaitedFor ? null : tryClaim(its);
        return slot == null ? claimQueued(its) : slot;
    }

    /** Claims a slot for something that this JVM does on its own; null if all are taken. */
    TransactionSlot tryClaim() {
        return tryClaim(SELF);
    }

    private TransactionSlot tryClaim(StoreTransaction.Tenant its) {
        for (int i = 0; i < SLOTS_MAX; i++) {
            int index = (int) ((i + store.incarnation()) % SLOTS_MAX);
            if (Memory.getVolatile(slotHead(index) + SLOT_OWNER) == 0) {
                TransactionSlot slot = claim(index, its);
                if (slot != null) {
                    return slot;
                }
            }
        }
        return null;
    }

    private TransactionSlot claimQueued(StoreTransaction.Tenant its) {
        long start = System.nanoTime();
        Queue<Thread> queue = store.pages().waitQueues().join(WaitQueues.SLOTS);
        try {
            for (int spins = 0;; spins++) {
                if (!WaitQueues.isFirst(queue)) {
                    store.requireOpen();
                    LockSupport.parkNanos(this, QUEUED_NANOS);
                    continue;
                }
                TransactionSlot slot = tryClaim(its);
                if (slot != null) {
                    return slot;
                }
                isWaitedFor = System.nanoTime() - start > OVERTAKEN_NANOS;
                Backoff.pause(spins);
                if (spins % 200 == 199) {
                    store.recovery().reap();
                }
            }
        } finally {
            isWaitedFor = false;
            store.pages().waitQueues().leave(WaitQueues.SLOTS);
        }
    }

    /**
     * Shared memory is touched between two stores that who closes the store looks at, so it is not taken away
     * meanwhile.
     */
    private TransactionSlot claim(int index, StoreTransaction.Tenant its) {
        if (!tenants.compareAndSet(index, null, its)) {
            return null;
        }
        TransactionSlot slot = null;
        try {
            store.requireOpen();
            TransactionSlot free = new TransactionSlot(store.pages(), index);
            slot = free.claim() ? free : null;
            return slot;
        } finally {
            if (slot == null) {
                tenants.set(index, null);
            }
        }
    }

    /**
     * Gives back a slot in which nothing is left to do. May be repeated when it was cut off: no other thread of this
     * JVM has the slot before this is done.
     */
    public void release(TransactionSlot slot) {
        try {
            if (slot.owner() == store.incarnation()) {
                Latch.recover(slot);
                slot.release();
            }
            tenants.set(slot.index, null);
            if (isWaitedFor) {
                store.pages().waitQueues().wakeFirst(WaitQueues.SLOTS);
            }
        } catch (IOException e) {
            abandon(slot.index);
            store.wakeCheckpointer();
        }
    }

    /** Leaves a slot of this JVM to recovery. */
    void abandon(int slot) {
        tenants.set(slot, NOBODY);
    }

    /** Whether a slot is left to recovery still. */
    boolean hasAbandoned() {
        for (int i = 0; i < SLOTS_MAX; i++) {
            if (tenants.get(i) == NOBODY) {
                return true;
            }
        }
        return false;
    }

    /** Whose of this JVM's the slot is, if his thread has ended; else null. */
    StoreTransaction.Tenant gone(int slot) {
        StoreTransaction.Tenant its = tenants.get(slot);
        boolean isGone = its != null && !its.isAlive();
        return isGone && Memory.getVolatile(slotHead(slot) + SLOT_OWNER) == store.incarnation() ? its : null;
    }

    /** Forgets those who are gone and have no slot any more. */
    void forgetGone() {
        for (int i = 0; i < SLOTS_MAX; i++) {
            StoreTransaction.Tenant its = tenants.get(i);
            if (its != null && !its.isAlive() && Memory.getVolatile(slotHead(i) + SLOT_OWNER) != store.incarnation()) {
                tenants.compareAndSet(i, its, null);
            }
        }
    }

    /** Transactions that have begun and not ended, those of dead processes among them. */
    int open() {
        int count = 0;
        for (int i = 0; i < SLOTS_MAX; i++) {
            // The store has a slot itself while it replays the log, but no transaction in it.
            count += Memory.getVolatile(slotHead(i) + SLOT_OWNER) != 0
                    && new TransactionSlot(store.pages(), i).state() != STATE_FREE ? 1 : 0;
        }
        return count;
    }

    /**
     * Waits until this JVM has no slot: for what the store does itself however long that takes, since it always ends.
     *
     * @throws SASException if a transaction of this JVM does not end in the time that locks are waited for
     */
    void awaitEnds() {
        long start = System.nanoTime();
        for (int spins = 0;; spins++) {
            StoreTransaction.Tenant its = anyTenant();
            if (its == null) {
                return;
            }
            if (its != SELF && System.nanoTime() - start > store.pages().settings.lockTimeoutMillis() * 1_000_000) {
                throw new SASException("the store " + store + " cannot be closed, and stays open: " + its
                        + " has not ended its transaction within " + store.pages().settings.lockTimeoutMillis()
                        + " ms");
            }
            store.recovery().reap();
            Backoff.pause(spins);
        }
    }

    /** One that has a slot; the store itself only if nobody else has. */
    private StoreTransaction.Tenant anyTenant() {
        StoreTransaction.Tenant self = null;
        for (int i = 0; i < SLOTS_MAX; i++) {
            StoreTransaction.Tenant its = tenants.get(i);
            if (its != null && its != SELF) {
                return its;
            }
            self = its == null ? self : its;
        }
        return self;
    }
}
