package dev.norn.sas;

import dev.norn.sas.exception.Outcome;
import dev.norn.sas.exception.StorageReadFailure;
import java.io.IOException;
import java.time.Duration;

/**
 * This JVM as a member of a group whose members have the same store: {@link Store#member}. One of them leads: there,
 * transactions commit when a majority of the members has them. At the others, {@link Transaction#read} sees what they
 * have got so far. When the leader dies, another one leads, with all that was acknowledged.
 *
 * <p>A member that has led and does not any more takes no changes, and has to be closed and opened again
 * ({@link #isUsable}).
 */
public interface Member {
    /** Whether transactions commit here. */
    boolean isLeader();

    /** False once it has led and does not any more, or its store has failed: it is to be closed and opened again. */
    boolean isUsable();

    /** The number of the last transaction that this member has; of a leader, also of one that is not acknowledged. */
    long number();

    /** The term of the leader whose transactions this member has got last. */
    long epoch();

    /**
     * What became of a transaction that an {@code OutcomeUnknown} names, as far as is known here; {@link Group#outcome}
     * asks all members, and needs no member in this JVM.
     */
    Outcome outcome(long epoch, long number);

    /**
     * Reads what was committed when this was called, or later: asks the leader, which asks a majority whether it leads,
     * and waits until this member has as much.
     *
     * @throws StorageReadFailure if no leader answers for 20 s, or this member has not got as much by then, or is not
     *     usable
     */
    <T, X extends Exception> T readFresh(Transaction.Body<T, X> body) throws X;

    /** The same as of a moment at most as long ago; without asking if this is known. */
    <T, X extends Exception> T read(Duration staleness, Transaction.Body<T, X> body) throws X;

    /**
     * Leaves the group for now; {@link Store#close} does it. A leader's transactions that wait for their
     * acknowledgement end in OutcomeUnknown.
     */
    void close() throws IOException;
}
