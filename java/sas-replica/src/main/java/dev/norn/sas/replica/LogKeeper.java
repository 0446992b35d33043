package dev.norn.sas.replica;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.replica.ReplicaStore;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;

/**
 * Cuts off a member's part of the group's log, once it has got so long: a checkpoint of the store first, so that the
 * store's files have what was in it. What was added since the last such checkpoint but one is kept, for members that
 * were away. The first checkpoint comes with the first entry, since who has none can send no copy to a new member. A
 * thread of its own, since a leader's checkpoint waits for entries that are still to be applied.
 */
final class LogKeeper {
    private static final long LOOK_MILLIS = 250;

    private final ReplicaStore replica;
    private final SnapshotFiles files;
    private final long logBytes;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile Thread thread;

    LogKeeper(ReplicaStore replica, SnapshotFiles files, long logBytes) {
        this.replica = replica;
        this.files = files;
        this.logBytes = logBytes;
    }

    void start(RaftServer.Division division, GroupMachine machine) {
        thread = Thread.ofPlatform().daemon().name("sas-group-log").start(() -> run(division, machine));
    }

    private void run(RaftServer.Division division, GroupMachine machine) {
        try {
            while (!closed.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                keep(division, machine);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void keep(RaftServer.Division division, GroupMachine machine) {
        try {
            if (machine.failure() == null && isDue(machine)) {
                cutOff(division, machine);
            }
            long[] next = division.getInfo().getFollowerNextIndices();
            files.removeOldCopy(next == null ? Long.MAX_VALUE : Arrays.stream(next).min().orElse(Long.MAX_VALUE));
        } catch (IOException | SASException e) {
            // The log stays as it is: it may have room the next time, and a leader that is deposed is opened again.
        }
    }

    private boolean isDue(GroupMachine machine) {
        return machine.appliedBytes() >= logBytes || files.mark() == null && machine.appliedBytes() > 0;
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
        closed.countDown();
        if (thread != null) {
            thread.join();
        }
    }
}
