package dev.norn.sas.replica;

import dev.norn.sas.Group;
import dev.norn.sas.GroupTransport;
import dev.norn.sas.Member;
import dev.norn.sas.MemberStatus;
import dev.norn.sas.MemberStatus.Role;
import dev.norn.sas.Store;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.util.TimeDuration;

/** Groups by Raft: what {@link Store#open(java.nio.file.Path, Group)} finds as a service. */
public final class RaftTransport implements GroupTransport {
    /** A member that is well answers in milliseconds. */
    private static final long STATUS_MILLIS_MAX = 2_000;
    /** A member that was just opened knows of no entry that is committed. */
    private static final long NOTHING_COMMITTED = -1;

    @Override
    public Member connect(Store store, UUID id, Group group, Opening opening) throws IOException {
        RaftMember member = new RaftMember(store, raftGroup(id, group.members()), group, opening);
        try {
            member.start();
            return member;
        } catch (IOException | RuntimeException e) {
            member.close();
            throw e;
        }
    }

    private static RaftGroup raftGroup(UUID id, Map<String, String> members) {
        return RaftGroup.valueOf(RaftGroupId.valueOf(id), members.entrySet().stream()
                .map(one -> RaftPeer.newBuilder().setId(one.getKey()).setAddress(one.getValue()).build()).toList());
    }

    @Override
    public List<MemberStatus> status(UUID id, Map<String, String> members) {
        RaftGroup group = raftGroup(id, members);
        Map<String, CompletableFuture<GroupMachine.Answer>> asked = new TreeMap<>();
        for (String name : members.keySet()) {
            CompletableFuture<GroupMachine.Answer> answer = new CompletableFuture<>();
            Thread.ofPlatform().daemon().name("sas-status").start(() -> ask(group, name, answer));
            asked.put(name, answer.orTimeout(STATUS_MILLIS_MAX, TimeUnit.MILLISECONDS).exceptionally(e -> null));
        }
        long acknowledged = asked.values().stream().map(CompletableFuture::join)
                .filter(answer -> answer != null && answer.role() == Role.LEADER)
                .mapToLong(GroupMachine.Answer::number).max().orElse(-1);
        return asked.entrySet().stream()
                .map(one -> status(one.getKey(), members.get(one.getKey()), one.getValue().join(), acknowledged))
                .toList();
    }

    private static MemberStatus status(String name, String address, GroupMachine.Answer answer, long acknowledged) {
        return answer == null ? MemberStatus.unreachable(name, address)
                : new MemberStatus(name, address, answer.role(), answer.term(), answer.applied(), answer.number(),
                        acknowledged < 0 ? -1 : Math.max(0, acknowledged - answer.number()));
    }

    private static void ask(RaftGroup group, String name, CompletableFuture<GroupMachine.Answer> answer) {
        RaftProperties properties = new RaftProperties();
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties,
                TimeDuration.valueOf(STATUS_MILLIS_MAX, TimeUnit.MILLISECONDS));
        try (RaftClient client = RaftClient.newBuilder().setProperties(properties).setRaftGroup(group)
                .setRetryPolicy(RetryPolicies.noRetry()).build()) {
            RaftClientReply reply = client.io().sendStaleRead(Message.EMPTY, NOTHING_COMMITTED,
                    RaftPeerId.valueOf(name));
            answer.complete(reply.isSuccess() ? GroupMachine.Answer.of(reply.getMessage()) : null);
        } catch (IOException | RuntimeException e) {
            answer.complete(null);
        }
    }
}
