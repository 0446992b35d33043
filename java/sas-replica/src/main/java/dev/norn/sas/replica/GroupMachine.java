package dev.norn.sas.replica;

import dev.norn.sas.MemberStatus.Role;
import dev.norn.sas.store.replica.RecordBatch;
import dev.norn.sas.store.replica.ReplicaStore;
import dev.norn.sas.store.replica.ReplicaStore.Sender;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;

/**
 * What Raft calls the state machine of a member: its store. It gets the entries of the group's log in their order, from
 * the first one on whenever the member is opened; the store knows which of them it has.
 */
final class GroupMachine extends BaseStateMachine {
    private final ReplicaStore replica;
    private final Sending sending;
    private volatile Throwable failure;

    GroupMachine(ReplicaStore replica, Sending sending) {
        this.replica = replica;
        this.sending = sending;
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
            return CompletableFuture.completedFuture(Message.EMPTY);
        } catch (RuntimeException | Error e) {
            // Nothing may be left out, so nothing that follows is taken.
            failure = e;
            sending.end();
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * How this member is. Asked of the leader by a read, once it has seen that it leads, the number says what a
     * majority has.
     */
    @Override
    public CompletableFuture<Message> query(Message request) {
        try {
            DivisionInfo info = getServer().join().getDivision(getGroupId()).getInfo();
            boolean isUsable = failure == null && !sending.isOver();
            Role role = !isUsable ? Role.UNUSABLE : replica.isLeader() ? Role.LEADER
                    : info.getLeaderId() == null ? Role.CANDIDATE : Role.FOLLOWER;
            return CompletableFuture.completedFuture(Message.valueOf(String.join(" ", role.name(),
                    Long.toString(info.getCurrentTerm()), Long.toString(info.getLastAppliedIndex()),
                    Long.toString(replica.acknowledged()))));
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** What {@link #query} answers. */
    record Answer(Role role, long term, long applied, long number) {
        static Answer of(Message message) {
            String[] words = message.getContent().toString(StandardCharsets.UTF_8).split(" ");
            return new Answer(Role.valueOf(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]),
                    Long.parseLong(words[3]));
        }
    }

    @Override
    public void notifyLeaderReady() {
        sending.begin();
    }

    @Override
    public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
        if (!member.getPeerId().equals(leader)) {
            sending.end();
        }
    }
}
