package dev.norn.sas.replica;

import dev.norn.sas.MemberStatus.Role;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.replica.RecordBatch;
import dev.norn.sas.store.replica.ReplicaStore;
import dev.norn.sas.store.replica.ReplicaStore.Sender;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.LifeCycle;

/**
 * What Raft calls the state machine of a member: its store. It gets the entries of the group's log in their order, from
 * the one on that {@link SnapshotFiles} say whenever the member is opened; the store knows which of them it has.
 */
final class GroupMachine extends BaseStateMachine {
    private static final String OUTCOME = "outcome";
    private static final long FAILED_NANOS = 100_000_000;

    private final ReplicaStore replica;
    private final Sending sending;
    private final SnapshotFiles files;
    private final Consumer<Map<String, String>> members;
    private final Runnable removal;
    private final AtomicLong appliedBytes = new AtomicLong();
    private volatile Throwable failure;

    /**
     * @param members takes who the members are, whenever one was added or removed
     * @param removal is run when this one seems to be no member
     */
    GroupMachine(ReplicaStore replica, Sending sending, SnapshotFiles files, Consumer<Map<String, String>> members,
            Runnable removal) {
        this.replica = replica;
        this.sending = sending;
        this.files = files;
        this.members = members;
        this.removal = removal;
    }

    @Override
    public void initialize(RaftServer server, RaftGroupId group, RaftStorage storage) throws IOException {
        super.initialize(server, group, storage);
        files.init(storage);
        if (files.mark() != null) {
            setLastAppliedTermIndex(files.mark());
        }
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

    /** Before the leader's copy of the store takes the place of what {@link #files} have. */
    @Override
    public void pause() {
        fail(new StorageReadFailure("the member was away for so long that the leader has sent it a copy of the store: "
                + "close it and open it again", null));
        files.freeze();
        getLifeCycle().transition(LifeCycle.State.PAUSING);
        getLifeCycle().transition(LifeCycle.State.PAUSED);
    }

    @Override
    public void reinitialize() {
        files.receive();
        setLastAppliedTermIndex(files.getLatestSnapshot().getTermIndex());
        getLifeCycle().startAndTransition(() -> {});
    }

    /** How many bytes of entries were applied that are not in the mark of {@link #files}. */
    long appliedBytes() {
        return appliedBytes.get();
    }

    void forgetBytes(long bytes) {
        appliedBytes.addAndGet(-bytes);
    }

    /** Nothing that follows is taken. */
    void fail(Throwable reason) {
        failure = reason;
        sending.end();
    }

    /** What happens to the leader's part of a member. */
    interface Sending {
        void begin();

        void end();

        /** The epoch that this member leads, or is about to; 0 if none. */
        long epoch();

        /** Whether it has ended. */
        boolean isOver();
    }

    /** Why the store takes nothing more; null if it does. */
    Throwable failure() {
        return failure;
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext context) {
        LogEntryProto entry = context.getLogEntry();
        if (failure != null) {
            // Raft's server tries again at once.
            LockSupport.parkNanos(this, FAILED_NANOS);
            return CompletableFuture.failedFuture(failure);
        }
        try {
            RecordBatch batch =
                    RecordBatch.decode(entry.getStateMachineLogEntry().getLogData().toByteArray());
            // What was sent in one term and appended in another has lost what was sent before it.
            if (batch.epoch() == entry.getTerm()) {
                replica.take(batch, batch.epoch() == sending.epoch() ? Sender.SELF : Sender.OTHER);
            }
            if (sending.isOver()) {
                // It ended while its beginning was under way.
                replica.lose();
            }
            updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
            appliedBytes.addAndGet(entry.getSerializedSize());
            return CompletableFuture.completedFuture(Message.EMPTY);
        } catch (RuntimeException | Error e) {
            // Nothing may be left out.
            fail(e);
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * What became of a transaction, if the request names one by {@link #outcomeOf}. Otherwise how this member is. Asked
     * by a read, by a leader that has seen that it leads, or by a follower that has what such
     * a leader had, the number says what a majority has.
     */
    @Override
    public CompletableFuture<Message> query(Message request) {
        try {
            String[] asked = text(request).split(" ");
            if (asked[0].equals(OUTCOME)) {
                return CompletableFuture.completedFuture(Message.valueOf(
                        replica.outcome(Long.parseLong(asked[1]), Long.parseLong(asked[2])).name()));
            }
            RaftServer.Division division = getServer().join().getDivision(getGroupId());
            DivisionInfo info = division.getInfo();
            boolean isUsable = failure == null && !sending.isOver();
            Role role = !isUsable ? Role.UNUSABLE : replica.isLeader() ? Role.LEADER
                    : info.getLeaderId() == null ? Role.CANDIDATE : Role.FOLLOWER;
            return CompletableFuture.completedFuture(Message.valueOf(String.join(" ", role.name(),
                    Long.toString(info.getCurrentTerm()), Long.toString(info.getLastAppliedIndex()),
                    Long.toString(replica.acknowledged()), asText(membersOf(division.getRaftConf())))));
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Asks a member what became of a transaction. */
    static Message outcomeOf(long epoch, long number) {
        return Message.valueOf(OUTCOME + " " + epoch + " " + number);
    }

    static String text(Message message) {
        return message.getContent().toString(StandardCharsets.UTF_8);
    }

    private static String asText(Map<String, String> members) {
        return members.entrySet().stream().map(one -> one.getKey() + "=" + one.getValue())
                .collect(Collectors.joining(","));
    }

    /** Addresses of members by their names. Those that are being removed count until the group goes on without. */
    static Map<String, String> membersOf(RaftConfiguration configuration) {
        Map<String, String> all = new TreeMap<>();
        configuration.getPreviousPeers().forEach(peer -> all.put(peer.getId().toString(), peer.getAddress()));
        configuration.getCurrentPeers().forEach(peer -> all.put(peer.getId().toString(), peer.getAddress()));
        return all;
    }

    /** What {@link #query} answers. */
    record Answer(Role role, long term, long applied, long number, Map<String, String> members) {
        static Answer of(Message message) {
            String[] words = text(message).split(" ");
            Map<String, String> members = new TreeMap<>();
            for (String one : words[4].split(",")) {
                members.put(one.substring(0, one.indexOf('=')), one.substring(one.indexOf('=') + 1));
            }
            return new Answer(Role.valueOf(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]),
                    Long.parseLong(words[3]), members);
        }
    }

    /** Entries of the past that are applied again say nothing of who the members are now. */
    @Override
    public void notifyConfigurationChanged(long term, long index, RaftConfigurationProto configuration) {
        try {
            RaftConfiguration now = getServer().join().getDivision(getGroupId()).getRaftConf();
            if (now.getLogEntryIndex() <= index && now.getPreviousPeers().isEmpty()) {
                members.accept(membersOf(now));
            }
        } catch (IOException e) {
            // The server is closed.
        }
    }

    /** The disk is full, or fails: what it has not must not be acknowledged, and Raft's server takes no more. */
    @Override
    public void notifyLogFailed(Throwable cause, LogEntryProto entry) {
        fail(new StorageWriteFailure("cannot write the group's log: close the member and open it again, when there is "
                + "room", cause));
    }

    /** It is to ask for votes; but the others say that it is no member, or its part of the log does not say so yet. */
    @Override
    public void notifyServerShutdown(RoleInfoProto role, boolean ofAllGroups) {
        if (!ofAllGroups) {
            removal.run();
        }
    }

    @Override
    public void notifyLeaderReady() {
        sending.begin();
    }

    /** Another one may lead already, or this one again, in another term. */
    @Override
    public void notifyNotLeader(Collection<TransactionContext> pending) {
        sending.end();
    }

    @Override
    public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
        if (!member.getPeerId().equals(leader)) {
            sending.end();
        }
    }
}
