package dev.norn.sas.replica;

import dev.norn.sas.Group;
import dev.norn.sas.GroupTransport.Opening;
import dev.norn.sas.Member;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.replica.ReplicaStore;
import dev.norn.sas.store.replica.ReplicaStore.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;

/** A member that Raft connects: its server, the client that asks the leader, and the leader's part. */
final class RaftMember implements Member {
    private static final long LOOK_NANOS = 1_000_000;
    private static final long RECONNECT_MILLIS = 250;

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

    RaftMember(Store store, RaftGroup group, Group settings, Opening opening) throws IOException {
        this.group = group;
        self = settings.self();
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
        machine = new GroupMachine(replica, shipper);
        server = RaftServer.newBuilder().setServerId(own.getId()).setGroup(group).setStateMachine(machine)
                .setProperties(RaftSettings.of(settings.log(), port(own))).setParameters(parameters)
                .setOption(isThere ? RaftStorage.StartupOption.RECOVER : RaftStorage.StartupOption.FORMAT).build();
        client = RaftClient.newBuilder().setProperties(new RaftProperties()).setRaftGroup(group).build();
    }

    void start() throws IOException {
        server.start();
        shipper.connect(server);
        Thread.ofPlatform().daemon().name("sas-reconnect").start(this::reconnect);
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

    @Override
    public boolean isLeader() {
        return replica.isLeader();
    }

    @Override
    public boolean isUsable() {
        return machine.failure() == null && !shipper.isOver();
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
        awaitNumber(ask());
        return Transaction.read(body);
    }

    @Override
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
            long number = GroupMachine.Answer.of(reply.getMessage()).number();
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

    @Override
    public synchronized void close() throws IOException {
        if (isClosed) {
            return;
        }
        isClosed = true;
        try {
            shipper.close();
            client.close();
            server.close();
            shipper.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StorageWriteFailure("interrupted while the member " + self + " was closed", e);
        }
    }
}
