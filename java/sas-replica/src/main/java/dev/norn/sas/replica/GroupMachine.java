package dev.norn.sas.replica;

import dev.norn.sas.store.replica.RecordBatch;
import dev.norn.sas.store.replica.ReplicaStore;
import dev.norn.sas.store.replica.ReplicaStore.Sender;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
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

    /** The number of the last record that a majority has: asked of the leader, once it has seen that it leads. */
    @Override
    public CompletableFuture<Message> query(Message request) {
        return CompletableFuture.completedFuture(
                Message.valueOf(Long.toString(replica.acknowledged())));
    }

    static long number(Message answer) {
        return Long.parseLong(answer.getContent().toString(StandardCharsets.UTF_8));
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
