package dev.norn.sas.runtime;

import dev.norn.sas.exception.NotLeader;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.log.Replication;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.Snapshot;
import java.util.Arrays;

/**
 * A read-only transaction of a thread. Each object that it uses has a handle here that has the object's state as of the
 * snapshot. No program gets these handles: those that programs have may be used by other threads in transactions that
 * see other states. So each access asks for the handle here, by the reference.
 */
public final class SnapshotReads {
    private final Snapshot snapshot;
    /** By the numbers of objects. */
    private SasObject[] handles = new SasObject[64];

    SnapshotReads(Snapshot snapshot) {
        this.snapshot = snapshot;
    }

    /** Whether the running thread is in a read-only transaction. */
    public static boolean isActive() {
        return Session.get().reads() != null;
    }

    /** The snapshot of the running thread's read-only transaction; null outside of one. */
    public static Snapshot running() {
        SnapshotReads reads = Session.get().reads();
        return reads == null ? null : reads.snapshot;
    }

    /**
     * Runs the action in a read-only transaction, which sees what is committed now. Inside an open transaction, it is a
     * part of that.
     */
    public static <T, X extends Exception> T run(Body<T, X> action) throws X {
        Session session = Session.get();
        session.endUndo();
        if (session.isActive() || session.reads() != null) {
            return action.run();
        }
        SnapshotReads its = new SnapshotReads(CurrentStore.get().snapshot());
        session.reads(its);
        try {
            return action.run();
        } finally {
            session.reads(null);
            its.end();
        }
    }

    /** @throws SASException in a read-only transaction, {@link NotLeader} in one that a follower has begun by itself */
    static void refuseChanges(Session session) {
        if (session.reads() != null) {
            if (Replication.isFollower()) {
                throw NotLeader.follows(CurrentStore.get().toString());
            }
            throw new SASException("a read-only transaction changes nothing: Transaction.run does");
        }
    }

    /** Where the object is that the session may read: in the store, or in a copy of a snapshot. */
    static long place(Session session, long reference) {
        SnapshotReads its = session.reads();
        return its == null ? Format.offsetOf(reference) : its.image(reference);
    }

    /** The handle with the state of the object that this one names. */
    SasObject handle(SasObject named) {
        long reference = named.$sas$reference();
        int number = snapshot.numberOf(reference);
        SasObject known = number != 0 && number <= handles.length ? handles[number - 1] : null;
        return known != null ? known : load(named, reference);
    }

    private SasObject load(SasObject named, long reference) {
        long image = image(reference);
        SasObject handle = Classes.of(named.getClass()).newHandle(reference);
        handle.$sas$load(image);
        int number = snapshot.numberOf(reference);
        if (number > handles.length) {
            handles = Arrays.copyOf(handles, Math.max(number, 2 * handles.length));
        }
        handles[number - 1] = handle;
        return handle;
    }

    /** Where a copy of the object is that has its state. */
    long image(long reference) {
        try {
            return snapshot.image(reference);
        } catch (InternalError e) {
            throw Committed.unreadable(reference, e);
        }
    }

    byte[] value(long reference) {
        try {
            return snapshot.value(reference);
        } catch (InternalError e) {
            throw Committed.unreadable(reference, e);
        }
    }

    /** The word of a field. */
    long word(long reference, int offset) {
        return Memory.getLong(image(reference) + offset);
    }

    int hashOf(long reference) {
        long image = image(reference);
        return Memory.getInt(Format.hashPlace(image, Memory.getLong(image)));
    }

    /** Ends it, and waits for a sync that is under way of what it has read. */
    void end() {
        try {
            snapshot.awaitDurable();
        } finally {
            snapshot.close();
        }
    }
}
