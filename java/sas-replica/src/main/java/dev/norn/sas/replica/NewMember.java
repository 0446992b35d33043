package dev.norn.sas.replica;

import dev.norn.sas.Group;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.memory.MemberFile;
import dev.norn.sas.store.memory.StoreArchive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.TimeDuration;

/**
 * Adds members to a group that runs, and removes them.
 *
 * <pre>
 * new member                    leader
 *   which group is it? ───────► (any member)
 *   starts a server that is in no group; add me ─► makes a copy: a backup, as an archive; sends it, then the entries
 *                                                  after it; an entry with the new members
 *   takes the store out of the copy; ends. Opened as any member, it gets the rest
 * </pre>
 */
final class NewMember {
    private static final int ATTEMPTS = 60;
    private static final long PAUSE_MILLIS = 500;
    /** Until a copy was made, sent and written. */
    private static final long CHANGE_MILLIS_MAX = TimeUnit.MINUTES.toMillis(30);

    private final Consumer<String> step;

    /** @param step is told who is asked, and what for */
    NewMember(Consumer<String> step) {
        this.step = step;
    }

    void join(Path directory, Group group) throws IOException {
        Map<String, String> others = new TreeMap<>(group.members());
        String address = others.remove(group.self());
        UUID id = askForGroup(others);
        RaftGroup its = RaftTransport.raftGroup(id, others);
        requireNew(its, group.self());
        if (Files.exists(group.log().resolve(id.toString()))) {
            throw new SASException(group.log() + " has a part of the group's log already: a new member needs a new "
                    + "directory");
        }
        RaftPeer peer = RaftPeer.newBuilder().setId(group.self()).setAddress(address).build();
        SnapshotFiles files = new SnapshotFiles(group.log(), id);
        try (RaftServer server = RaftServer.newBuilder().setServerId(peer.getId())
                .setGroup(RaftGroup.valueOf(RaftGroupId.valueOf(id))).setStateMachine(new Receiver(files))
                .setProperties(RaftSettings.of(group, RaftMember.port(peer)))
                .setParameters(new Parameters()).setOption(RaftStorage.StartupOption.FORMAT).build()) {
            server.start();
            step.accept("asks the leader of " + others + " to send " + address + " a copy of the store, and to count "
                    + group.self());
            change(its, SetConfigurationRequest.Arguments.newBuilder().setServersInNewConf(List.of(peer))
                    .setMode(SetConfigurationRequest.Mode.ADD).build());
        }
        Path copy = files.received();
        if (copy == null) {
            throw new StorageReadFailure("the leader has added " + group.self() + ", but sent no copy of the store: "
                    + "remove the member, and try again", null);
        }
        step.accept("has a copy of the store, and writes it to " + directory);
        StoreArchive.extract(copy, directory);
        new MemberFile(id, group.self(), group.members(), group.log()).write(directory);
        files.adopt();
    }

    /** Any member says which group it is in. */
    private UUID askForGroup(Map<String, String> members) {
        Exception last = null;
        for (Map.Entry<String, String> one : members.entrySet()) {
            RaftPeer peer = RaftPeer.newBuilder().setId(one.getKey()).setAddress(one.getValue()).build();
            step.accept("asks " + one + " which group it is in");
            try (RaftClient client = client(RaftGroup.valueOf(RaftGroupId.randomId(), peer))) {
                List<RaftGroupId> groups = client.getGroupManagementApi(peer.getId()).list().getGroupIds();
                if (groups.size() == 1) {
                    return groups.getFirst().getUuid();
                }
            } catch (IOException | RuntimeException e) {
                last = e;
            }
        }
        throw new StorageReadFailure("no member of the group " + members + " answers", last);
    }

    /** A name that was a member's once is another's for ever: Raft counts votes by names. */
    private void requireNew(RaftGroup group, String name) {
        if (ask(group).members().containsKey(name)) {
            throw new SASException("the group has a member " + name + " already");
        }
    }

    private GroupMachine.Answer ask(RaftGroup group) {
        step.accept("asks for the leader of " + text(group) + ", and which members count");
        try (RaftClient client = client(group)) {
            RaftClientReply reply = client.io().sendReadOnly(Message.EMPTY);
            if (!reply.isSuccess()) {
                throw new StorageReadFailure("no leader of the group answers", reply.getException());
            }
            return GroupMachine.Answer.of(reply.getMessage());
        } catch (IOException e) {
            throw new StorageReadFailure("no leader of the group answers: " + e.getMessage(), e);
        }
    }

    void remove(RaftGroup group, String name) {
        Map<String, String> members = ask(group).members();
        RaftGroup now = RaftTransport.raftGroup(group.getGroupId().getUuid(), members);
        if (!members.containsKey(name)) {
            throw new SASException("the group " + members + " has no member " + name);
        }
        if (members.size() == 1) {
            throw new SASException(name + " is the only member of its group");
        }
        List<RaftPeer> left = now.getPeers().stream().filter(peer -> !peer.getId().equals(RaftPeerId.valueOf(name)))
                .sorted(Comparator.comparing(peer -> peer.getId().toString())).toList();
        step.accept("asks the leader of " + members + " to go on without " + name + ", for which it needs a majority");
        change(now, SetConfigurationRequest.Arguments.newBuilder().setServersInCurrentConf(List.copyOf(now.getPeers()))
                .setServersInNewConf(left).setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET).build());
    }

    private static void change(RaftGroup group, SetConfigurationRequest.Arguments change) {
        try (RaftClient client = client(group)) {
            RaftClientReply reply = client.admin().setConfiguration(change);
            if (!reply.isSuccess()) {
                throw new SASException("the group cannot change its members now: " + reply.getException().getMessage(),
                        reply.getException());
            }
        } catch (IOException e) {
            throw new StorageWriteFailure("the group cannot change its members now: " + e.getMessage(), e);
        }
    }

    private static String text(RaftGroup group) {
        return group.getPeers().stream().map(peer -> peer.getId() + "=" + peer.getAddress()).sorted()
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static RaftClient client(RaftGroup group) {
        RaftProperties properties = new RaftProperties();
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties,
                TimeDuration.valueOf(CHANGE_MILLIS_MAX, TimeUnit.MILLISECONDS));
        return RaftClient.newBuilder().setProperties(properties).setRaftGroup(group).setRetryPolicy(
                RetryPolicies.retryUpToMaximumCountWithFixedSleep(ATTEMPTS,
                        TimeDuration.valueOf(PAUSE_MILLIS, TimeUnit.MILLISECONDS))).build();
    }

    /** Takes a copy of the store. Entries that come after it stay in the log, until the member is opened. */
    private static final class Receiver extends BaseStateMachine {
        private final SnapshotFiles files;

        Receiver(SnapshotFiles files) {
            this.files = files;
        }

        @Override
        public void initialize(RaftServer server, RaftGroupId group, RaftStorage storage) throws IOException {
            super.initialize(server, group, storage);
            files.init(storage);
            getLifeCycle().startAndTransition(() -> {});
        }

        @Override
        public StateMachineStorage getStateMachineStorage() {
            return files;
        }

        @Override
        public SnapshotInfo getLatestSnapshot() {
            return files.getLatestSnapshot();
        }

        @Override
        public void pause() {
            getLifeCycle().transition(LifeCycle.State.PAUSING);
            getLifeCycle().transition(LifeCycle.State.PAUSED);
        }

        @Override
        public void reinitialize() {
            files.receive();
            setLastAppliedTermIndex(files.getLatestSnapshot().getTermIndex());
            getLifeCycle().startAndTransition(() -> {});
        }

        @Override
        public CompletableFuture<Message> applyTransaction(TransactionContext context) {
            updateLastAppliedTermIndex(context.getLogEntry().getTerm(), context.getLogEntry().getIndex());
            return CompletableFuture.completedFuture(Message.EMPTY);
        }
    }
}
