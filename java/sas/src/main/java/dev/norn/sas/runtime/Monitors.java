package dev.norn.sas.runtime;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.transaction.WaitWords;

/**
 * Monitors of persistent objects: inside a transaction, entering is taking the object's lock for writing, which is held
 * to the end, across processes. Outside transactions there is none: that is refused.
 *
 * <p>A wait lets other transactions run, so it ends what is atomic: the transaction so far is committed, and the thread
 * waits for a notification from any process. It continues in a new transaction that has the object's lock. What it has
 * read before may have changed, as with any monitor. A transaction that has waited is not run again after a conflict.
 */
public final class Monitors {
    private static final ThreadLocal<Object> OWN = ThreadLocal.withInitial(Object::new);

    private Monitors() {}

    private static boolean isPersistent(Object object) {
        return object instanceof SasObject handle && handle.$sas$reference() != 0;
    }

    /**
     * The monitor to enter instead of the object's, whose lock the transaction gets.
     *
     * @throws SASException outside transactions
     */
    public static Object enter(Object object) {
        if (!isPersistent(object)) {
            return object;
        }
        // What a read-only transaction sees does not change, so it needs no lock.
        if (!SnapshotReads.isActive() && Session.write((SasObject) object) == null) {
            throw new SASException("synchronized on a persistent " + object.getClass().getName()
                    + " needs a transaction, which then holds the lock to its end");
        }
        return monitorOf(object);
    }

    /** The monitor that was entered instead. */
    public static Object exit(Object object) {
        return isPersistent(object) ? monitorOf(object) : object;
    }

    /** One that the thread entered while the object was temporary has its own monitor to the end. */
    private static Object monitorOf(Object object) {
        return Thread.holdsLock(object) ? object : OWN.get();
    }

    public static void wait(Object object) throws InterruptedException {
        wait(object, 0);
    }

    /** @throws IllegalMonitorStateException if the thread has not entered the object's monitor */
    public static void wait(Object object, long millis) throws InterruptedException {
        if (!isPersistent(object)) {
            object.wait(millis);
            return;
        }
        if (millis < 0) {
            throw new IllegalArgumentException("to wait for " + millis + " ms");
        }
        SasObject handle = requireEntered(object);
        Session session = Session.get();
        long reference = handle.$sas$reference();
        long seen = WaitWords.count(reference);
        session.commit();
        try {
            WaitWords.await(CurrentStore.get(), handle, reference, seen, millis * 1_000_000);
        } finally {
            session.goOn(handle);
        }
    }

    public static void notify(Object object) {
        if (isPersistent(object)) {
            notifyAll(object);
        } else {
            object.notify();
        }
    }

    /** @throws IllegalMonitorStateException if the thread has not entered the object's monitor */
    public static void notifyAll(Object object) {
        if (isPersistent(object)) {
            WaitWords.give(requireEntered(object).$sas$reference());
        } else {
            object.notifyAll();
        }
    }

    private static SasObject requireEntered(Object object) {
        SasObject handle = (SasObject) object;
        if (!Session.get().isActive() || !Session.get().transaction().hasExclusively(handle.$sas$reference())) {
            throw new IllegalMonitorStateException("the transaction has not entered the monitor of the persistent "
                    + object.getClass().getName());
        }
        return handle;
    }
}
