package dev.norn.sas.replica;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.replica.ReplicaStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * Cuts off a member's part of the group's log, once it has got so long: a checkpoint of the store first, so that the
 * store's files have what was in it. What was added since the last such checkpoint but one is kept, for members that
 * were away. A thread of its own, since a leader's checkpoint waits for entries that are still to be applied.
 */
final class LogKeeper {
    private static final long LOOK_MILLIS = 250;
    /** What is not asked for. */
    private static final CompletableFuture<Message> NOT_ASKED = new CompletableFuture<>();

    private final ReplicaStore replica;
    private final SnapshotFiles files;
    private final long logBytes;
    private final LinkedBlockingQueue<CompletableFuture<Message>> asked = new LinkedBlockingQueue<>();
    private volatile Thread thread;
    private volatile boolean isClosed;

    LogKeeper(ReplicaStore replica, SnapshotFiles files, long logBytes) {
        this.replica = replica;
        this.files = files;
        this.logBytes = logBytes;
    }

    /** Has a copy made for a member that is to come; complete when it is there. */
    CompletableFuture<Message> askForCopy() {
        CompletableFuture<Message> answer = new CompletableFuture<>();
        asked.add(answer);
        return answer;
    }

    void start(RaftServer.Division division, GroupMachine machine) {
        thread = Thread.ofPlatform().daemon().name("sas-group-log").start(() -> run(division, machine));
    }

    private void run(RaftServer.Division division, GroupMachine machine) {
        try {
            while (!isClosed) {
                CompletableFuture<Message> answer = asked.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                keep(division, machine, answer == null ? NOT_ASKED : answer);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void keep(RaftServer.Division division, GroupMachine machine, CompletableFuture<Message> answer) {
        try {
            if (answer != NOT_ASKED) {
                TermIndex at = machine.getLastAppliedTermIndex();
                files.copy(at);
                files.mark(at);
                answer.complete(Message.EMPTY);
            } else if (machine.appliedBytes() >= logBytes && machine.failure() == null) {
                cutOff(division, machine);
            }
            requireRoom(machine);
            long[] next = division.getInfo().getFollowerNextIndices();
            files.removeOldCopy(next == null ? Long.MAX_VALUE : Arrays.stream(next).min().orElse(Long.MAX_VALUE));
        } catch (IOException | SASException e) {
            answer.completeExceptionally(e);
            // The log stays as it is: it may have room the next time, and a leader that is deposed is opened again.
        }
    }

    /**
     * A leader whose disk is full would go on to lead, and refuse all transactions once its store's log is full: so
     * another one has to lead.
     */
    private void requireRoom(GroupMachine machine) {
        try {
            if (replica.isNearlyFull() && machine.failure() == null) {
                replica.checkpoint();
            }
        } catch (StorageWriteFailure e) {
            machine.fail(e);
        }
    }

    private void cutOff(RaftServer.Division division, GroupMachine machine) throws IOException {
        TermIndex before = files.mark();
        TermIndex at = machine.getLastAppliedTermIndex();
        long bytes = machine.appliedBytes();
        replica.checkpoint();
        files.mark(at);
        machine.forgetBytes(bytes);
        if (before != null) {
            division.getRaftLog().purge(before.getIndex());
        }
    }

    /** Returns when the thread has ended. */
    void close() throws InterruptedException {
        isClosed = true;
        if (thread != null) {
            thread.join();
        }
    }
}
