package dev.norn.sas.replica;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.replica.ReplicaStore;
import dev.norn.sas.store.replica.ReplicaStore.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;

/**
 * This JVM as a member of a group whose members have the same store. One of them leads: there, transactions commit when
 * a majority of the members has them. At the others, {@link Transaction#read} sees what they have got so far. When the
 * leader dies, another one leads, with all that was acknowledged.
 *
 * <p>A group begins with one store, by {@link #found}, of which each member gets a copy. A member that has led and does
 * not any more takes no changes, and has to be closed and opened again ({@link #isUsable}).
 */
public final class Member implements AutoCloseable {
    private static final long LOOK_NANOS = 1_000_000;
    private static final long RECONNECT_MILLIS = 250;

    private final Store store;
    private final ReplicaStore replica;
    private final Shipper shipper;
    private final GroupMachine machine;
    private final RaftGroup group;
    private final Parameters parameters = new Parameters();
    private final RaftServer server;
    private final RaftClient client;
    private final String self;
    private volatile boolean isClosed;
    /** When the leader was asked last, and what it said then. */
    private volatile Fresh fresh = new Fresh(Long.MIN_VALUE, Long.MAX_VALUE);

    private record Fresh(long askedNanos, long number) {}

    private Member(Store store, Path raft, String self, Map<String, String> peers) throws IOException {
        this.store = store;
        this.self = self;
        replica = ReplicaStore.of(store.attached());
        List<RaftPeer> all = peers.entrySet().stream()
                .map(peer -> RaftPeer.newBuilder().setId(peer.getKey()).setAddress(peer.getValue()).build()).toList();
        group = RaftGroup.valueOf(RaftGroupId.valueOf(id(peers)), all);
        shipper = new Shipper(replica, group.getGroupId());
        machine = new GroupMachine(replica, shipper);
        boolean isNew = Files.notExists(raft.resolve(group.getGroupId().getUuid().toString()));
        RaftPeer own = all.stream().filter(peer -> peer.getId().toString().equals(self)).findFirst().orElseThrow();
        server = RaftServer.newBuilder().setServerId(own.getId()).setGroup(group).setStateMachine(machine)
                .setProperties(RaftSettings.of(raft, port(own))).setParameters(parameters)
                .setOption(isNew ? RaftStorage.StartupOption.FORMAT : RaftStorage.StartupOption.RECOVER).build();
        client = RaftClient.newBuilder().setProperties(new RaftProperties()).setRaftGroup(group).build();
    }

    /** All members name the same ones. */
    private static UUID id(Map<String, String> peers) {
        return UUID.nameUUIDFromBytes(new java.util.TreeMap<>(peers).toString().getBytes(StandardCharsets.UTF_8));
    }

    private static int port(RaftPeer peer) {
        return Integer.parseInt(peer.getAddress().substring(peer.getAddress().lastIndexOf(':') + 1));
    }

    /** While no leader is known, those that were not there before are asked again soon. */
    private void reconnect() {
        try {
            for (; !isClosed; Thread.sleep(RECONNECT_MILLIS)) {
                if (server.getDivision(group.getGroupId()).getInfo().getLeaderId() == null) {
                    group.getPeers().stream().map(RaftPeer::getId).filter(peer -> !peer.equals(server.getId()))
                            .forEach(peer -> Thread.startVirtualThread(
                                    () -> ReconnectingRpc.reconnect(parameters, peer)));
                }
            }
        } catch (IOException | InterruptedException e) {
            // The server is closed.
        }
    }

    /**
     * Makes a store, which no program uses, the first member of a group. The directories of the others are copies of
     * it: of all its files but {@code pool}, before any member was opened.
     */
    public static void found(Path store) throws IOException {
        ReplicaStore.prepare(store);
    }

    /**
     * Opens this JVM's member. It follows at first, and gets what it lacks.
     *
     * @param store its store
     * @param raft the directory of the group's log, which is the member's own; made if it is not there
     * @param self its name
     * @param peers addresses, as {@code host:port}, of all members by their names; the same at all members
     */
    public static Member open(Path store, Path raft, String self, Map<String, String> peers) throws IOException {
        if (!peers.containsKey(self)) {
            throw new SASException("the group " + peers + " has no member " + self);
        }
        Store opened = Store.openReplica(store);
        try {
            Member member = new Member(opened, raft, self, peers);
            member.server.start();
            member.shipper.connect(member.server);
            Thread.ofPlatform().daemon().name("sas-reconnect").start(member::reconnect);
            return member;
        } catch (IOException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    public Store store() {
        return store;
    }

    /** Whether transactions commit here. */
    public boolean isLeader() {
        return replica.isLeader();
    }

    /** False once it has led and does not any more, or its store has failed: it is to be closed and opened again. */
    public boolean isUsable() {
        return machine.failure() == null && !shipper.isOver();
    }

    /** The number of the last transaction that this member has; of a leader, also of one that is not acknowledged. */
    public long number() {
        return replica.number();
    }

    /** The term of the leader whose transactions this member has got last. */
    public long epoch() {
        return replica.epoch();
    }

    /** What became of a transaction that an {@code OutcomeUnknown} names, as far as is known here. */
    public Outcome outcome(long epoch, long number) {
        return replica.outcome(epoch, number);
    }

    /**
     * Reads what was committed when this was called, or later: asks the leader, which asks a majority whether it leads,
     * and waits until this member has as much.
     *
     * @throws StorageReadFailure if no leader answers, or the member is not usable
     */
    public <T, X extends Exception> T readFresh(Transaction.Body<T, X> body) throws X {
        awaitNumber(ask());
        return Transaction.read(body);
    }

    /** The same as of a moment at most as long ago; without asking if this is known. */
    public <T, X extends Exception> T read(Duration staleness, Transaction.Body<T, X> body) throws X {
        Fresh last = fresh;
        boolean isKnown = last.number <= replica.acknowledged()
                && System.nanoTime() - last.askedNanos <= staleness.toNanos();
        return isKnown ? Transaction.read(body) : readFresh(body);
    }

    private long ask() {
        long asked = System.nanoTime();
        try {
            RaftClientReply reply = client.io().sendReadOnly(Message.EMPTY);
            if (!reply.isSuccess()) {
                throw new StorageReadFailure("no leader of the group of " + self + " answers", reply.getException());
            }
            long number = GroupMachine.number(reply.getMessage());
            fresh = new Fresh(asked, number);
            return number;
        } catch (IOException e) {
            throw new StorageReadFailure("no leader of the group of " + self + " answers: " + e.getMessage(), e);
        }
    }

    private void awaitNumber(long number) {
        while (replica.acknowledged() < number) {
            if (!isUsable()) {
                throw new StorageReadFailure("the member " + self + " is not usable: close it and open it again",
                        machine.failure());
            }
            LockSupport.parkNanos(this, LOOK_NANOS);
        }
    }

    /** Leaves the group for now. A leader's transactions that wait for their acknowledgement end in OutcomeUnknown. */
    @Override
    public void close() throws IOException {
        isClosed = true;
        try {
            shipper.close();
            client.close();
            server.close();
            shipper.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StorageWriteFailure("interrupted while the member " + self + " was closed", e);
        } finally {
            store.close();
        }
    }
}
