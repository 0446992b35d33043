package dev.norn.sas.replica;

import dev.norn.sas.Group;
import dev.norn.sas.GroupTransport;
import dev.norn.sas.GroupTransport.Opening;
import dev.norn.sas.Member;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.Outcome;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.replica.ReplicaStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;

/** A member that Raft connects: its server, the client that asks the leader, and the leader's part. */
final class RaftMember implements Member {
    private static final long LOOK_NANOS = 1_000_000;
    private static final long LOOK_MILLIS = 250;
    private static final int IDLE_LOOKS_MAX = 8;
    private static final long REASON_NANOS_MAX = 10_000_000_000L;
    /** How long a read waits for a leader, and for what it has: as long as a commit waits for a majority. */
    private static final long ASK_NANOS_MAX = 20_000_000_000L;
    private static final long ASK_AGAIN_NANOS = 10_000_000;
    private static final Pattern UUIDS = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final Duration REMOVAL_WAIT = Duration.ofSeconds(2);

    private final ReplicaStore replica;
    private final Shipper shipper;
    private final GroupMachine machine;
    private final RaftGroup group;
    private final RaftServer server;
    private volatile RaftServer.Division division;
    private volatile RaftClient client;
    /** Who the members were, since this one was known to be one; null before. */
    private volatile Map<String, String> known;
    private final LogKeeper keeper;
    private final GroupTransport.MembersKeeper members;
    private final String self;
    private volatile boolean isClosed;
    private boolean hasLeft;
    /** When the leader was asked last, and what it said then. */
    private volatile Fresh fresh = new Fresh(Long.MIN_VALUE, Long.MAX_VALUE);

    private record Fresh(long askedNanos, long number) {}

    RaftMember(Store store, RaftGroup group, Group settings, Opening opening, GroupTransport.MembersKeeper members)
            throws IOException {
        this.group = group;
        this.members = members;
        self = settings.self();
        requireNoOther(settings.log(), group.getGroupId().getUuid());
        RaftPeer own = group.getPeers().stream().filter(peer -> peer.getId().toString().equals(self)).findFirst()
                .orElseThrow();
        boolean isThere = Files.exists(settings.log().resolve(group.getGroupId().getUuid().toString()));
        if (!isThere && opening == Opening.LATER) {
            throw new StorageReadFailure("the member " + self + " has lost its part of the group's log, "
                    + settings.log() + ", and could vote against what it has acknowledged: it must not be opened again",
                    null);
        }
        replica = ReplicaStore.of(store.attached());
        shipper = new Shipper(replica, group.getGroupId());
        SnapshotFiles files = new SnapshotFiles(settings.log(), group.getGroupId().getUuid());
        files.adopt();
        files.use(replica);
        VoteFile.repair(settings.log(), group.getGroupId().getUuid(), self,
                Math.max(replica.epoch(), files.mark() == null ? 0 : files.mark().getTerm()));
        keeper = new LogKeeper(replica, files, settings.logBytes());
        machine = new GroupMachine(replica, shipper, files, this::takeChange, this::takeRemoval);
        server = RaftServer.newBuilder().setServerId(own.getId()).setGroup(group).setStateMachine(machine)
                .setProperties(RaftSettings.of(settings, port(own)))
                .setOption(isThere ? RaftStorage.StartupOption.RECOVER : RaftStorage.StartupOption.FORMAT).build();
        client = client(group);
    }

    /** Raft's server begins with each group of which it finds a part of a log. */
    private static void requireNoOther(Path log, UUID group) throws IOException {
        if (Files.notExists(log)) {
            return;
        }
        try (var parts = Files.list(log)) {
            Path other = parts.filter(part -> UUIDS.matcher(part.getFileName().toString()).matches()
                    && !part.endsWith(group.toString())).findFirst().orElse(null);
            if (other != null) {
                throw new StorageReadFailure("the directory " + log + " has a part of the log of another group, "
                        + other.getFileName() + ", than the store's, which is " + group + ": is it the right store? If "
                        + "so, name another directory, or move that part away", null);
            }
        }
    }

    private static RaftClient client(RaftGroup group) {
        return RaftClient.newBuilder().setProperties(new RaftProperties()).setRaftGroup(group)
                .setRetryPolicy(RetryPolicies.noRetry()).build();
    }

    /** One was added or removed, or the same members have elected a leader. Also while the member is closed. */
    private void takeMembers(Map<String, String> all) {
        try {
            synchronized (members) {
                if (all.equals(known)) {
                    return;
                }
                members.keep(all);
                known = all;
            }
            if (!all.containsKey(self)) {
                machine.fail(new StorageReadFailure("the member " + self + " was removed from its group", null));
            }
            RaftClient before = client;
            client = client(RaftTransport.raftGroup(group.getGroupId().getUuid(), all));
            closeLater(before);
        } catch (IOException e) {
            System.err.println("sas: the member " + self + " cannot write who the members of its group are: "
                    + StoreFiles.reason(e));
        }
    }

    /** A call that a silent member does not answer would be waited for, for 3 s. */
    private static void closeLater(RaftClient client) {
        Thread.startVirtualThread(() -> {
            try {
                client.close();
            } catch (IOException e) {
                // It has nothing to lose.
            }
        });
    }

    /**
     * Raft's server for the group is closed: the others do not count this member any more, or its own part of the log
     * does not. Only the leader can say which: a new member's may lack the entry that has added it.
     */
    private void takeRemoval() {
        Map<String, String> all = RaftTransport.membersOfLeader(group, REMOVAL_WAIT);
        if (all != null && !all.containsKey(self)) {
            takeMembers(all);
        } else {
            machine.fail(new StorageReadFailure("the part of the group's log of the member " + self
                    + " does not say yet that it is a member: close it and open it again", null));
        }
    }

    void start() throws IOException {
        server.start();
        division = server.getDivision(group.getGroupId());
        takeConfiguration(division.getRaftConf());
        keeper.start(division, machine);
        shipper.connect(server);
        Thread.ofPlatform().daemon().name("sas-member").start(this::look);
    }

    /** A new member's log may end before the entry that adds it: then what was written down when it joined holds. */
    private void takeConfiguration(RaftConfiguration configuration) {
        if (configuration.getPreviousPeers().isEmpty()) {
            takeChange(GroupMachine.membersOf(configuration));
        }
    }

    /** The log does not say that a member is none: a new one gets entries of the time before it was added. */
    private void takeChange(Map<String, String> all) {
        if (all.containsKey(self)) {
            takeMembers(all);
        }
    }

    /**
     * Raft's server for the group closes itself when it finds that this member was removed, and says so afterwards
     * only: opened again before that, the member would wait for a group that does not count it.
     */
    private void awaitReason() {
        RaftServer.Division its = division;
        long end = System.nanoTime() + REASON_NANOS_MAX;
        while (its != null && !its.getInfo().isAlive() && machine.failure() == null && !shipper.isOver()
                && System.nanoTime() < end) {
            LockSupport.parkNanos(this, LOOK_NANOS);
        }
    }

    static int port(RaftPeer peer) {
        return Integer.parseInt(peer.getAddress().substring(peer.getAddress().lastIndexOf(':') + 1));
    }

    /**
     * A member that is not usable goes on to have a vote, and to take what others send, as a majority may need it; but
     * it must not lead. Raft's server ends an election, and begins no other one, when it cannot write its vote down.
     */
    private void look() {
        int idle = 0;
        try {
            for (; !isClosed; Thread.sleep(LOOK_MILLIS)) {
                RaftServer.Division its = server.getDivision(group.getGroupId());
                if (its.getInfo().isLeader() && !isUsable()) {
                    leave();
                    return;
                }
                idle = its.getInfo().getLeaderId() != null || isElecting(its) ? 0 : idle + 1;
                if (its.getInfo().getLeaderId() == null) {
                    askWhetherRemoved(its.getRaftConf());
                }
                if (idle > IDLE_LOOKS_MAX && isUsable() && isCounted(its.getRaftConf())) {
                    machine.fail(new StorageWriteFailure("the member " + self + " knows no leader and elects none, as "
                            + "when it had no room to write its vote down: close it and open it again", null));
                }
            }
        } catch (IOException | InterruptedException e) {
            // The server is closed.
        }
    }

    /** Whether Raft's server has a thread that waits for a leader, or for votes. */
    private static boolean isElecting(RaftServer.Division its) {
        String member = its.getMemberId().toString();
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .anyMatch(name -> name.startsWith(member + "-FollowerState")
                        || name.startsWith(member + "-LeaderElection"));
    }

    /**
     * A member whose part of the log ends with an entry that removes it, or is about to, asks for no votes, so nobody
     * says that it was removed. It was killed before it could write that down, or the entry did not get a majority.
     */
    private void askWhetherRemoved(RaftConfiguration configuration) {
        if (!isCounted(configuration) && machine.failure() == null) {
            Map<String, String> all = RaftTransport.membersOfLeader(group, REMOVAL_WAIT);
            if (all != null && !all.containsKey(self)) {
                takeMembers(all);
            }
        }
    }

    private boolean isCounted(RaftConfiguration configuration) {
        return configuration.getPreviousPeers().isEmpty()
                && GroupMachine.membersOf(configuration).containsKey(self);
    }

    @Override
    public boolean isLeader() {
        return replica.isLeader();
    }

    @Override
    public boolean isUsable() {
        RaftServer.Division its = division;
        // Whatever else ends the server's part for the group: it closes itself then.
        return machine.failure() == null && !shipper.isOver() && (its == null || its.getInfo().isAlive());
    }

    @Override
    public long number() {
        return replica.number();
    }

    @Override
    public long epoch() {
        return replica.epoch();
    }

    @Override
    public Outcome outcome(long epoch, long number) {
        return replica.outcome(epoch, number);
    }

    @Override
    public <T, X extends Exception> T readFresh(Transaction.Body<T, X> body) throws X {
        long start = System.nanoTime();
        awaitNumber(ask(start), start);
        return Transaction.read(body);
    }

    @Override
    public <T, X extends Exception> T read(Duration staleness, Transaction.Body<T, X> body) throws X {
        Fresh last = fresh;
        boolean isKnown = last.number <= replica.acknowledged()
                && System.nanoTime() - last.askedNanos <= staleness.toNanos();
        return isKnown ? Transaction.read(body) : readFresh(body);
    }

    /**
     * Asks again while none leads, since one may be about to be elected; but not once this member is to be opened
     * again: whoever does that may wait for those that read.
     */
    private long ask(long start) {
        for (;;) {
            long asked = System.nanoTime();
            try {
                long number = await(askLeader());
                fresh = new Fresh(asked, number);
                return number;
            } catch (ExecutionException e) {
                if (System.nanoTime() - start > ASK_NANOS_MAX) {
                    throw new StorageReadFailure("no leader of the group of " + self + " answers: "
                            + e.getCause().getMessage(), e.getCause());
                }
            }
            LockSupport.parkNanos(this, ASK_AGAIN_NANOS);
        }
    }

    /** In a thread of its own, since a member that is silent is waited for, for 3 s. */
    private CompletableFuture<Long> askLeader() {
        RaftClient its = client;
        CompletableFuture<Long> number = new CompletableFuture<>();
        Thread.startVirtualThread(() -> {
            try {
                number.complete(GroupMachine.Answer.of(its.io().sendReadOnly(Message.EMPTY).getMessage()).number());
            } catch (IOException | RuntimeException e) {
                number.completeExceptionally(e);
            }
        });
        return number;
    }

    private long await(CompletableFuture<Long> number) throws ExecutionException {
        for (;;) {
            requireUsable();
            try {
                return number.get(ASK_AGAIN_NANOS, TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                // It is not there yet.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StorageReadFailure("interrupted while the leader of the group of " + self + " was asked", e);
            }
        }
    }

    private void requireUsable() {
        if (!isUsable()) {
            throw new StorageReadFailure("the member " + self + " is not usable: close it and open it again",
                    machine.failure());
        }
    }

    private void awaitNumber(long number, long start) {
        while (replica.acknowledged() < number) {
            requireUsable();
            if (System.nanoTime() - start > ASK_NANOS_MAX) {
                throw new StorageReadFailure("the member " + self + " has got transaction " + replica.acknowledged()
                        + " so far, and a fresh read waits for " + number + ", which the group has: it is slow, or its "
                        + "disk is", null);
            }
            LockSupport.parkNanos(this, LOOK_NANOS);
        }
    }

    /** Returns when nothing of this member uses the store any more. */
    private synchronized void leave() throws IOException, InterruptedException {
        if (!hasLeft) {
            hasLeft = true;
            awaitReason();
            shipper.close();
            keeper.close();
            closeLater(client);
            server.close();
            shipper.join();
        }
    }

    @Override
    public void close() throws IOException {
        isClosed = true;
        try {
            leave();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StorageWriteFailure("interrupted while the member " + self + " was closed", e);
        }
    }
}
