package dev.norn.sas.runtime;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.TransactionConflict;
import dev.norn.sas.store.log.Replication;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.StackRoom;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.Directory;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread's transaction: its work on the store, the handles that have the values of what it holds, and the copies of
 * arrays.
 */
public final class Session implements StoreTransaction.Tenant {
    private static final ThreadLocal<Session> CURRENT = ThreadLocal.withInitial(Session::new);
    /**
     * The sessions that were asked for last, by the numbers of their threads: a third of what a ThreadLocal costs. What
     * a race leaves there is compared with the thread.
     */
    private static final Session[] RECENT = new Session[64];
    private static final int ATTEMPTS_MAX = 1000;
    /** After so long, no other attempt begins: somebody keeps a lock, and the caller has to know. */
    private static final long ATTEMPTS_NANOS_MAX = 30_000_000_000L;
    private static final long PAUSE_NANOS_MAX = 4_000_000;
    private static final int HANDLES_FIRST = 128;
    /** Room on the stack for a store outside transactions, and the commit after it. */
    private static final int FRAMES = 16;
    /**
     * Arrays of handles are arrays of Object. The second compiler expects that of every array of an interface, and
     * gives the code that stores into one up, with all that it is compiled into, when that has failed four times.
     */
    private static final Object[] NONE = {};
    /**
     * A transaction that has written as many objects leaves their handles to a holder of its own, which costs as much
     * as a few objects.
     */
    private static final int WRITTEN_MANY = 64;
    /**
     * After this number of uses of objects, the handles of the ending transaction forget the objects that they refer
     * to: some megabytes of handles.
     */
    private static final int USES_MAX = 1 << 16;

    private final Thread thread = Thread.currentThread();
    private AttachedStore store;
    private StoreTransaction transaction;
    /** By the place of each object that the work has locked, the handle that has its values, or null. */
    private Object[] holding = NONE;
    /** Those of them that were let through for writing; again if it was after another savepoint. */
    private Object[] written = NONE;
    private int writtenCount;
    /** Of these, the number of the first that have their fields saved, and have to ask again before they write. */
    private int savedCount;
    /** The last savepoint that is open; null if none is. */
    private Savepoint savepoint;
    /** Counts transactions. */
    private long transactionNumber;
    /** Why the transaction has to be undone; null if nothing is wrong with it. */
    private Throwable broken;
    /** Objects that transactions have used since one of them had its handles forget their targets. */
    private int uses;
    private final ChangedBlocks changing = new ChangedBlocks();
    private final Promotion promotion = new Promotion(this);
    /** Whether {@link #run} was about to undo the transaction. */
    private boolean hasToUndo;
    private boolean isAlone;
    /** Whether a part of what {@link #run} runs is committed. */
    private boolean hasWaited;
    private final ArrayCopies arrays = new ArrayCopies(this);
    private NewClasses newClasses = new NewClasses();

    /** What the transaction has adopted. */
    private final List<Promotion.Temporary> temporaries = new ArrayList<>();

    private SnapshotReads reads;

    /** The class that a conflict kept from getting its number. */
    private Classes.Info wanted;

    private Session() {}

    /** The thread's session, in a transaction or not. */
    public static Session get() {
        Thread running = Thread.currentThread();
        Session recent = RECENT[(int) running.threadId() & RECENT.length - 1];
        return recent != null && recent.thread == running ? recent : find(running);
    }

    private static Session find(Thread running) {
        Session session = CURRENT.get();
        RECENT[(int) running.threadId() & RECENT.length - 1] = session;
        return session;
    }

    public boolean isActive() {
        return transaction != null && transaction.isActive();
    }

    /** The read-only transaction that is open; null if none is. */
    SnapshotReads reads() {
        return reads;
    }

    /** A read-only transaction begins, or ends: then it is null. No copy of an array is its own any more. */
    void reads(SnapshotReads its) {
        reads = its;
        arrays.end();
    }

    /** @throws SASException if a transaction is open in this thread, or no store */
    public void begin() {
        endUndo();
        SnapshotReads.refuseChanges(this);
        if (isActive()) {
            throw new SASException("this thread has begun a transaction already");
        }
        AttachedStore current = CurrentStore.get();
        if (current != store) {
            transaction = new StoreTransaction(current, this);
            store = current;
            newClasses = new NewClasses();
        }
        wanted = null;
        // New arrays, as storing young handles into old ones is dear for the collector.
        Object[] places = new Object[HANDLES_FIRST];
        Object[] writable = new Object[HANDLES_FIRST];
        transaction.begin();
        transactionNumber++;
        // An end that was cut off may have left some.
        broken = null;
        newClasses.forget(0);
        temporaries.clear();
        arrays.end();
        holding = places;
        written = writable;
        writtenCount = 0;
        savedCount = 0;
    }

    /** Commits; when that fails, everything is undone. */
    public void commit() {
        requireActive();
        Nobody many;
        try {
            requireWhole();
            arrays.writeBack();
            save();
            many = writtenCount < WRITTEN_MANY ? null : Nobody.ofTransaction();
        } catch (Throwable e) {
            abort(e);
            throw e;
        }
        // While the locks are held: the next holder may take a handle over.
        leave(many == null ? Nobody.get() : many);
        try {
            transaction.commit();
        } catch (Throwable e) {
            abort(e);
            throw e;
        }
        if (many != null) {
            many.isNowCommitted();
        }
        arrays.end();
        newClasses.keep();
        temporaries.clear();
    }

    private void requireWhole() {
        if (broken != null) {
            throw new SASException("the transaction was undone: a part of it failed, and the changes of that part "
                    + "could not be undone alone", broken);
        }
    }

    /** Undoes what a failure leaves, which is what the caller has to know. */
    private void abort(Throwable cause) {
        try {
            if (isActive()) {
                abort();
            } else {
                afterAbort();
            }
        } catch (Throwable e) {
            cause.addSuppressed(e);
        }
    }

    /** Saves the fields of handles that were let through for writing. */
    private void save() {
        for (int i = savedCount; i < writtenCount; i++) {
            SasObject handle = (SasObject) written[i];
            // One of an object that was destroyed is no longer.
            if (handle.$sas$isWritable()) {
                handle.$sas$save(Format.offsetOf(handle.$sas$reference()));
            }
        }
    }

    /** From now on, every handle has to ask again. */
    private void leave(Thread next) {
        for (int place = 0; place < transaction.places() && place < holding.length; place++) {
            if (holding[place] != null) {
                ((SasObject) holding[place]).$sas$leave(thread, next);
            }
        }
        uses += transaction.places();
        if (uses > USES_MAX) {
            dropTargets();
        }
        holding = NONE;
        written = NONE;
        writtenCount = 0;
        savedCount = 0;
        changing.clear();
    }

    /**
     * A handle that is kept, a root's say, keeps what it led to last, and so on. A transaction that reaches such
     * handles again cuts that off now and then; from one that none reaches, a chain is as long as the uses between two
     * cuts.
     */
    private void dropTargets() {
        uses = 0;
        for (Object handle : holding) {
            if (handle != null) {
                ((SasObject) handle).$sas$drop();
            }
        }
    }

    /** What the transaction has changed of arrays in place. */
    ChangedBlocks changing() {
        return changing;
    }

    /** Makes the object's handle ask again: the object is gone. */
    void forget(long reference) {
        int place = transaction.placeOf(reference);
        if (place >= 0 && place < holding.length && holding[place] != null) {
            ((SasObject) holding[place]).$sas$leave(thread, Nobody.get());
            holding[place] = null;
        }
    }

    public void abort() {
        requireActive();
        // What is thrown in here leaves what can be done again.
        leave(Nobody.get());
        try {
            transaction.abort();
        } finally {
            afterAbort();
        }
    }

    @Override
    public boolean isAlive() {
        return thread.isAlive();
    }

    @Override
    public String toString() {
        return "thread \"" + thread.getName() + "\"";
    }

    @Override
    public void evict(Runnable undo) {
        leave(Nobody.get());
        undo.run();
        afterAbort();
    }

    private void afterAbort() {
        broken = null;
        newClasses.forget(0);
        restoreTemporaries(0);
        arrays.restore();
    }

    /** Makes objects that were adopted temporary again, from this one on. */
    private void restoreTemporaries(int first) {
        for (int i = temporaries.size() - 1; i >= first; i--) {
            temporaries.get(i).restore();
            temporaries.remove(i);
        }
    }

    /** Takes note of what becomes persistent by adoption. */
    void keepTemporaries(List<Promotion.Temporary> more) {
        temporaries.addAll(more);
    }

    private void requireActive() {
        if (!isActive()) {
            SnapshotReads.refuseChanges(this);
            throw new SASException("this thread has begun no transaction");
        }
    }

    /**
     * Runs the action in the open transaction, or in one of its own; at a follower of a group, in a read-only one.
     * Inside the open one, what it has done when it throws stays.
     */
    public <T, X extends Exception> T within(Body<T, X> action) throws X {
        endUndo();
        if (isActive() || reads != null) {
            return action.run();
        }
        CurrentStore.get();
        return Replication.isFollower() ? SnapshotReads.run(action) : alone(action);
    }

    private <T, X extends Exception> T alone(Body<T, X> action) throws X {
        return run(() -> {
            long its = transactionNumber;
            T result = action.run();
            if (!isActive() || its != transactionNumber && !hasWaited) {
                throw new SASException("the body of Transaction.run has ended the transaction itself. What it "
                        + "committed stays committed, and what it aborted stays undone");
            }
            commit();
            return result;
        });
    }

    /** The same, but what the action has done is taken back when it throws. */
    public <T, X extends Exception> T nested(Body<T, X> action) throws X {
        endUndo();
        if (!isActive()) {
            return reads != null ? action.run() : alone(action);
        }
        Savepoint its = new Savepoint(savepoint);
        open(its);
        savepoint = its;
        T result;
        try {
            result = action.run();
        } catch (Throwable e) {
            returnTo(its, e);
            throw e;
        } finally {
            savepoint = its.outer;
        }
        release(its);
        return result;
    }

    private void open(Savepoint its) {
        saveWritten();
        its.written = writtenCount;
        its.newClasses = newClasses.count();
        its.temporaries = temporaries.size();
        its.arrays = arrays.snapshot();
        changing.open(its);
        transaction.openSavepoint();
        its.transactionNumber = transactionNumber;
    }

    /** Has all handles ask again before they write, so that the images as of now are kept then. */
    private void saveWritten() {
        save();
        for (int i = savedCount; i < writtenCount; i++) {
            SasObject handle = (SasObject) written[i];
            if (handle.$sas$isWritable()) {
                handle.$sas$bind(handle.$sas$word() & ~SasObject.WRITABLE);
            }
        }
        if (savepoint == null) {
            // Nothing returns to where some of them were not written yet.
            writtenCount = 0;
        }
        savedCount = writtenCount;
    }

    /**
     * Whether the savepoint is one of the open transaction: a part of the run may have been committed, or undone as a
     * whole.
     */
    private boolean isOf(Savepoint its) {
        return isActive() && its.transactionNumber == transactionNumber;
    }

    private void release(Savepoint its) {
        if (!isOf(its)) {
            return;
        }
        transaction.releaseSavepoint();
        changing.release(its);
    }

    /** Takes back what came after the savepoint. If that fails, the transaction can only be undone. */
    private void returnTo(Savepoint its, Throwable cause) {
        if (!isOf(its)) {
            return;
        }
        try {
            transaction.returnToSavepoint();
            changing.restore(its);
            for (int i = its.written; i < writtenCount; i++) {
                reload(((SasObject) written[i]).$sas$reference());
            }
            writtenCount = its.written;
            savedCount = its.written;
            newClasses.forget(its.newClasses);
            restoreTemporaries(its.temporaries);
            arrays.restore(its.arrays);
        } catch (Throwable e) {
            breaks(e, cause);
        }
    }

    /**
     * Gives the handle that has an object's values what the object has again, or lets it go if the object is gone. It
     * need not be the one that was let through.
     */
    private void reload(long reference) {
        SasObject its = holding(reference);
        if (its == null) {
            return;
        }
        if (transaction.store().isObject(reference)) {
            its.$sas$bind(its.$sas$word() & ~SasObject.WRITABLE);
            its.$sas$load(Format.offsetOf(reference));
        } else {
            forget(reference);
            changing.forget(its);
        }
    }

    private void breaks(Throwable e, Throwable cause) {
        broken = e;
        cause.addSuppressed(e);
    }

    /** Takes back allocations and frees of a step that has failed. */
    void takeBackSteps(long mark, Throwable cause) {
        try {
            transaction.takeBackSteps(mark);
        } catch (Throwable e) {
            breaks(e, cause);
        }
    }

    /**
     * Begins, and runs the action, which commits or leaves that for later; again after each
     * {@link TransactionConflict}. Any exception undoes it, and comes out when all that others have committed is
     * durable.
     */
    private <T, X extends Exception> T run(Body<T, X> action) throws X {
        hasWaited = false;
        long start = System.nanoTime();
        for (int attempt = 1;; attempt++) {
            begin();
            transaction.mayRunAgain(attempt);
            try {
                return action.run();
            } catch (TransactionConflict e) {
                undo();
                if (attempt == ATTEMPTS_MAX || hasWaited || System.nanoTime() - start > ATTEMPTS_NANOS_MAX) {
                    throw e;
                }
                numberWanted();
                long bound = Math.min(PAUSE_NANOS_MAX, 20_000L << Math.min(attempt, 16));
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(bound));
            } catch (Throwable e) {
                undo();
                Committed.awaitReasons(transaction.store(), e);
                throw e;
            }
        }
    }

    /** Begins another transaction, with the object's lock, after one that was committed in order to wait. */
    void goOn(SasObject handle) {
        run(() -> {
            reopen(savepoint);
            return write(handle);
        });
        hasWaited = true;
    }

    /** Nested runs that continue in another transaction are inside it from its beginning. */
    private void reopen(Savepoint its) {
        if (its != null) {
            reopen(its.outer);
            open(its);
        }
    }

    private void undo() {
        hasToUndo = true;
        endUndo();
    }

    /**
     * Undoes a transaction that should have been undone when the stack or the memory was exhausted. No step may
     * continue in it.
     */
    void endUndo() {
        if (hasToUndo) {
            if (isActive()) {
                abort();
            }
            hasToUndo = false;
        }
    }

    /** Begins a transaction for one store into the handle's object. */
    SasObject beginAlone(SasObject handle) {
        StackRoom.require(FRAMES);
        SasObject its = run(() -> write(handle));
        isAlone = true;
        return its;
    }

    /** Commits what {@link #beginAlone} began, if it did. */
    void endAlone() {
        if (isAlone) {
            isAlone = false;
            commit();
        }
    }

    /** Gives the class a number that is this transaction's own until it is durable. */
    int addClass(Classes.Info info, String description) {
        int number = Directory.addClass(transaction, description);
        newClasses.add(info, number);
        return number;
    }

    /** A conflict keeps the class from getting its number in the running transaction. */
    void wants(Classes.Info info) {
        wanted = info;
    }

    /**
     * Gives a class its number in a transaction of its own, before the one that conflicted is run again. Threads that
     * all read the directory first, and then all want to change it, would conflict again and again.
     */
    private void numberWanted() {
        Classes.Info info = wanted;
        wanted = null;
        if (info == null) {
            return;
        }
        begin();
        try {
            info.number();
            commit();
        } catch (TransactionConflict e) {
            undo();
        } catch (Throwable e) {
            undo();
            throw e;
        }
    }

    NewClasses newClasses() {
        return newClasses;
    }

    /** The work on the store. In a transaction. */
    public StoreTransaction transaction() {
        requireActive();
        return transaction;
    }

    ArrayCopies arrays() {
        return arrays;
    }

    /** Locks the object for reading; returns the handle that has its values, or null outside transactions. */
    static SasObject read(SasObject handle) {
        Nobody.requireOpenStore(handle);
        Session session = get();
        if (!session.isActive()) {
            return session.reads == null ? null : session.reads.handle(handle);
        }
        try {
            return session.hold(handle, session.transaction.lockShared(handle.$sas$reference()));
        } catch (InternalError e) {
            throw Committed.unreadable(handle.$sas$reference(), e);
        }
    }

    /** Locks the object for writing; returns the handle that has its values, or null outside transactions. */
    static SasObject write(SasObject handle) {
        Nobody.requireOpenStore(handle);
        Session session = get();
        if (!session.isActive()) {
            SnapshotReads.refuseChanges(session);
            return null;
        }
        try {
            return session.holdForWriting(handle, handle.$sas$reference());
        } catch (InternalError e) {
            throw Committed.unreadable(handle.$sas$reference(), e);
        }
    }

    private SasObject holdForWriting(SasObject handle, long reference) {
        SasObject its = hold(handle, transaction.lockExclusive(reference));
        if (!its.$sas$isWritable()) {
            keepWritten(its);
            its.$sas$bind(its.$sas$word() | SasObject.WRITABLE);
        }
        return its;
    }

    /** The handle that has the object's values is the first that was used; it stays so to the end. */
    private SasObject hold(SasObject handle, int place) {
        SasObject its = place < holding.length ? (SasObject) holding[place] : null;
        if (its == null) {
            handle.$sas$load(Format.offsetOf(handle.$sas$reference()));
            keep(handle, place);
            handle.$sas$holder(thread);
            return handle;
        }
        if (its == handle) {
            // Another thread reads the object through the same handle. No transaction changes it, so the values are the
            // same.
            handle.$sas$holder(thread);
        }
        return its;
    }

    private void keep(SasObject handle, int place) {
        if (place >= holding.length) {
            holding = Arrays.copyOf(holding, Math.max(place + 1, 2 * holding.length));
        }
        holding[place] = handle;
    }

    private void keepWritten(SasObject handle) {
        if (writtenCount == written.length) {
            written = Arrays.copyOf(written, 2 * written.length);
        }
        written[writtenCount++] = handle;
    }

    /** The handle that has the values of this object; null if the transaction has not used one. */
    SasObject holding(long reference) {
        int place = transaction.placeOf(reference);
        return place >= 0 && place < holding.length ? (SasObject) holding[place] : null;
    }

    /** The same if the transaction may store into its fields; null too outside transactions. */
    public SasObject holdingForWriting(long reference) {
        SasObject its = isActive() ? holding(reference) : null;
        return its != null && its.$sas$isWritable() ? its : null;
    }

    Promotion promotion() {
        return promotion;
    }

    /** Makes room for this number of new handles: {@link #holdNew} then cannot fail. */
    void makeRoom(int handles) {
        if (transaction.places() > holding.length) {
            holding = Arrays.copyOf(holding, Math.max(transaction.places(), 2 * holding.length));
        }
        if (writtenCount + handles > written.length) {
            written = Arrays.copyOf(written, Math.max(writtenCount + handles, 2 * written.length));
        }
    }

    /**
     * A new object, whose references are stored, and whose other fields have its values; at its place among what the
     * work holds.
     */
    void holdNew(SasObject handle, int place) {
        handle.$sas$settle();
        if (handle instanceof InPlace array) {
            array.$sas$elements(null);
            array.$sas$kept(changing.of(array));
        }
        holding[place] = handle;
        written[writtenCount++] = handle;
        handle.$sas$bind(handle.$sas$word() | SasObject.WRITABLE);
        VarHandle.releaseFence();
        handle.$sas$holder(thread);
    }
}
