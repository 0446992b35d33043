package dev.norn.sas.store.memory;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.TransactionConflict;
import java.io.IOException;

/**
 * Latches keep shared memory and the log in order between the threads of all processes, for moments. (Objects' locks
 * last to the end of a transaction.) A latch is a word that holds 0, or the {@link TransactionSlot#latchValue}
 * of the slot that has it, so that the latches of a dead process are found from its slots.
 *
 * <pre>
 * latch        guards                                   file I/O under it
 * CHECKPOINT   the containers' files, the log's header  yes
 * SYNC         the sync of the log                      yes
 * LOG          the end of the log                       yes
 * VERSIONS     the ring of versions for snapshots       only backing of storage
 * GROW         a container's number of pages, and       only backing of storage
 *              which of them large objects have
 * page         a page's starts and generation           none
 * </pre>
 *
 * <p>A slot that waits for a latch has only latches that are above it here, so slots never wait in a circle.
 * {@link #hold} is the one way to have a latch. Code inside does not call the program, and does not wait for an
 * object's lock or for a slot. What is thrown inside is treated as a death at that place: what the latch guards is put
 * in order before the latch is given back.
 */
public final class Latch {
    /** What {@link #tryHold} returns if somebody has the latch: no section returns it. */
    public static final long BUSY = Long.MIN_VALUE;
    /** Pauses of one who waits between two looks at the holder. */
    private static final int PAUSES_UNCHECKED = 16;
    /**
     * A checkpoint may write every page of the store, so it is waited for as many times as long as for other latches.
     */
    private static final int CHECKPOINT_TIMEOUTS = 6;
    /** Room on the stack for the latch of a page, and for others, under which files are used. */
    private static final int FRAMES_PAGE = 1;
    private static final int FRAMES = 12;

    private Latch() {}

    /** What is done while a latch is held. What it returns is up to it. */
    public interface Section<X extends Exception> {
        long run() throws X;
    }

    /**
     * Waits for the latch, runs the section, and gives the latch back, whatever is thrown. Costs two atomic stores and
     * one compare-and-set if the latch is free.
     *
     * @throws TransactionConflict if a living process keeps the latch for longer than locks are waited for, and the
     *     slot's transaction can still be undone; nothing was run
     */
    public static <X extends Exception> long hold(TransactionSlot slot, long word, Section<X> section) throws X {
        StackRoom.require(isPage(word) ? FRAMES_PAGE : FRAMES);
        try {
            latch(slot, word);
            long result = section.run();
            unlatch(slot, word);
            return result;
        } catch (Throwable e) {
            giveBack(slot, word);
            throw e;
        }
    }

    /** The same if the latch is free now; else {@link #BUSY}. */
    public static <X extends Exception> long tryHold(TransactionSlot slot, long word, Section<X> section) throws X {
        StackRoom.require(isPage(word) ? FRAMES_PAGE : FRAMES);
        try {
            if (!tryLatch(slot, word)) {
                return BUSY;
            }
            long result = section.run();
            unlatch(slot, word);
            return result;
        } catch (Throwable e) {
            giveBack(slot, word);
            throw e;
        }
    }

    /**
     * Gives the latch back, if the slot has it, after a section that was cut off. If that fails, too, the end of the
     * slot's transaction or recovery does it ({@link #recover}).
     */
    private static void giveBack(TransactionSlot slot, long word) {
        try {
            if (has(slot, word)) {
                slot.pool.recoverer().settle(slot, word);
            }
            unlatch(slot, word);
        } catch (IOException e) {
            throw slot.pool.recoverer().cannotSettle(e);
        }
    }

    private static void latch(TransactionSlot slot, long word) {
        if (!tryLatch(slot, word)) {
            Waiting waiting = new Waiting(slot, word);
            do {
                waiting.pause();
            } while (!tryLatch(slot, word));
        }
    }

    private static boolean tryLatch(TransactionSlot slot, long word) {
        if (isOfContainer(word)) {
            // The compare-and-set orders it: a slot that sees the latch taken also sees its holder.
            Memory.putRelease(slot.head + SLOT_LATCH, word);
        }
        return Memory.getVolatile(word) == 0 && Memory.compareAndSet(word, 0, slot.latchValue());
    }

    /**
     * Of these there are many, so a slot announces the one that it takes; it has one at most. The others are looked at.
     */
    public static boolean isOfContainer(long word) {
        return word >= CONTAINERS;
    }

    /** Whether it is that of a page, and not that of the container's growing, which is in its header. */
    public static boolean isPage(long word) {
        return isOfContainer(word) && (word & (1L << CONTAINER_ALIGNMENT_BITS) - 1) != CONTAINER_GROW_LATCH;
    }

    private static void unlatch(TransactionSlot slot, long word) {
        if (has(slot, word)) {
            Memory.putRelease(word, 0);
        }
        if (isOfContainer(word)) {
            Memory.putRelease(slot.head + SLOT_LATCH, 0);
        }
    }

    /** Whether the slot has the latch. */
    public static boolean has(TransactionSlot slot, long word) {
        return word != 0 && Memory.getVolatile(word) == slot.latchValue();
    }

    /**
     * Puts in order what the latches of a dead or failed slot guard, and frees them, in the order of latches. Never
     * waits for another slot; doing it twice is harmless.
     */
    public static void recover(TransactionSlot slot) throws IOException {
        long ofContainer = Memory.getVolatile(slot.head + SLOT_LATCH);
        for (long word : new long[] {CHECKPOINT_LATCH, SYNC_LATCH, LOG_LATCH, VERSIONS_LATCH, ofContainer}) {
            if (has(slot, word)) {
                slot.pool.recoverer().settle(slot, word);
                unlatch(slot, word);
            }
        }
    }

    /** Somebody who waits for a latch. */
    public static final class Waiting {
        private final TransactionSlot slot;
        private final long word;
        private final long start = System.nanoTime();
        private int spins;

        public Waiting(TransactionSlot slot, long word) {
            this.slot = slot;
            this.word = word;
        }

        /** Spins at first, then sleeps, and now and then looks whether the holder is dead. */
        public void pause() {
            Backoff.pause(spins++);
            if (spins > Backoff.SPINS && spins % PAUSES_UNCHECKED == 0) {
                lookAtHolder();
            }
        }

        /** Recovers a holder that is dead; gives up, where that is possible, if the latch is kept for too long. */
        public void lookAtHolder() {
            long holder = Memory.getVolatile(word) - 1;
            if (holder < 0 || holder >= SLOTS_MAX) {
                return;
            }
            Recoverer recoverer = slot.pool.recoverer();
            if (recoverer.isLost((int) holder)) {
                recoverer.reap();
            } else if (slot.mayGiveUp() && System.nanoTime() - start > timeoutNanos()) {
                throw new TransactionConflict("waited " + timeoutNanos() / 1_000_000 + " ms for the latch of " + name()
                        + ", which "
                        + slot.pool.attachments().describe(Memory.getVolatile(slotHead((int) holder) + SLOT_OWNER))
                        + " has: is that process stopped?");
            }
        }

        private long timeoutNanos() {
            return slot.pool.settings.lockTimeoutMillis() * 1_000_000L
                    * (word == CHECKPOINT_LATCH ? CHECKPOINT_TIMEOUTS : 1);
        }

        private String name() {
            return word == CHECKPOINT_LATCH ? "checkpoints" : word == LOG_LATCH ? "the log's end"
                    : word == SYNC_LATCH ? "the log's sync"
                    : word == VERSIONS_LATCH ? "versions for snapshots" : "storage in a container";
        }
    }
}
