package dev.norn.sas.replica;

import dev.norn.sas.Group;
import dev.norn.sas.GroupTransport;
import dev.norn.sas.Member;
import dev.norn.sas.MemberStatus;
import dev.norn.sas.MemberStatus.Role;
import dev.norn.sas.Store;
import dev.norn.sas.exception.Outcome;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.store.memory.StoreFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
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
    /** A member that was just opened knows of no entry that is committed. */
    private static final long NOTHING_COMMITTED = -1;

    @Override
    public Member connect(Store store, UUID id, Group group, Opening opening, MembersKeeper keeper)
            throws IOException {
        RaftMember member = new RaftMember(store, raftGroup(id, group.members()), group, opening, keeper);
        try {
            member.start();
            return member;
        } catch (IOException | RuntimeException e) {
            member.close();
            throw e;
        }
    }

    @Override
    public Path received(UUID id, Group group) {
        try {
            return new SnapshotFiles(group.log(), id).received();
        } catch (IOException e) {
            throw new StorageReadFailure("cannot read the group's log " + group.log() + ": " + StoreFiles.reason(e), e);
        }
    }

    @Override
    public void join(Path directory, Group group) throws IOException {
        NewMember.join(directory, group);
    }

    @Override
    public void remove(UUID id, Map<String, String> members, String name) {
        NewMember.remove(raftGroup(id, members), name);
    }

    static RaftGroup raftGroup(UUID id, Map<String, String> members) {
        return RaftGroup.valueOf(RaftGroupId.valueOf(id), members.entrySet().stream()
                .map(one -> RaftPeer.newBuilder().setId(one.getKey()).setAddress(one.getValue()).build()).toList());
    }

    @Override
    public List<MemberStatus> status(UUID id, Map<String, String> members, Duration wait) {
        Map<String, CompletableFuture<GroupMachine.Answer>> asked = ask(raftGroup(id, members), wait);
        Map<String, String> now = membersOfLeader(asked);
        if (now != null && !now.equals(members)) {
            // One was added or removed since these were written down.
            return status(id, now, wait);
        }
        long acknowledged = asked.values().stream().map(CompletableFuture::join)
                .filter(answer -> answer != null && answer.role() == Role.LEADER)
                .mapToLong(GroupMachine.Answer::number).max().orElse(-1);
        return asked.entrySet().stream()
                .map(one -> status(one.getKey(), members.get(one.getKey()), one.getValue().join(), acknowledged))
                .toList();
    }

    /** What became of it is the same for all who know. */
    @Override
    public Outcome outcome(UUID id, Map<String, String> members, long epoch, long number, Duration wait) {
        List<Outcome> known = ask(raftGroup(id, members), GroupMachine.outcomeOf(epoch, number), wait,
                answer -> Outcome.valueOf(GroupMachine.text(answer))).values().stream().map(CompletableFuture::join)
                .filter(Objects::nonNull).toList();
        if (known.isEmpty()) {
            throw new StorageReadFailure("no member of the group " + members + " answers within " + wait.toMillis()
                    + " ms", null);
        }
        return known.stream().filter(one -> one == Outcome.COMMITTED || one == Outcome.UNDONE).findFirst()
                .orElse(known.contains(Outcome.NOT_YET) ? Outcome.NOT_YET : Outcome.FORGOTTEN);
    }

    private static Map<String, CompletableFuture<GroupMachine.Answer>> ask(RaftGroup group, Duration wait) {
        return ask(group, Message.EMPTY, wait, GroupMachine.Answer::of);
    }

    /** Asks all members at once. An answer that does not come is null. */
    private static <T> Map<String, CompletableFuture<T>> ask(RaftGroup group, Message question, Duration wait,
            Function<Message, T> understand) {
        Map<String, CompletableFuture<T>> asked = new TreeMap<>();
        for (RaftPeer peer : group.getPeers()) {
            CompletableFuture<T> answer = new CompletableFuture<>();
            Thread.ofPlatform().daemon().name("sas-status").start(
                    () -> ask(group, peer.getId().toString(), question, wait, understand, answer));
            asked.put(peer.getId().toString(),
                    answer.orTimeout(wait.toMillis(), TimeUnit.MILLISECONDS).exceptionally(e -> null));
        }
        return asked;
    }

    /** Who counts, as the leader says; null if none answers. Those that are being removed count. */
    static Map<String, String> membersOfLeader(RaftGroup group, Duration wait) {
        return membersOfLeader(ask(group, wait));
    }

    private static Map<String, String> membersOfLeader(Map<String, CompletableFuture<GroupMachine.Answer>> asked) {
        return asked.values().stream().map(CompletableFuture::join)
                .filter(answer -> answer != null && answer.role() == Role.LEADER).findFirst()
                .map(GroupMachine.Answer::members).orElse(null);
    }

    private static MemberStatus status(String name, String address, GroupMachine.Answer answer, long acknowledged) {
        return answer == null ? MemberStatus.unreachable(name, address)
                : new MemberStatus(name, address, answer.role(), answer.term(), answer.applied(), answer.number(),
                        acknowledged < 0 ? -1 : Math.max(0, acknowledged - answer.number()));
    }

    private static <T> void ask(RaftGroup group, String name, Message question, Duration wait,
            Function<Message, T> understand, CompletableFuture<T> answer) {
        RaftProperties properties = new RaftProperties();
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties,
                TimeDuration.valueOf(wait.toMillis(), TimeUnit.MILLISECONDS));
        try (RaftClient client = RaftClient.newBuilder().setProperties(properties).setRaftGroup(group)
                .setRetryPolicy(RetryPolicies.noRetry()).build()) {
            RaftClientReply reply = client.io().sendStaleRead(question, NOTHING_COMMITTED,
                    RaftPeerId.valueOf(name));
            answer.complete(reply.isSuccess() ? understand.apply(reply.getMessage()) : null);
        } catch (IOException | RuntimeException e) {
            answer.complete(null);
        }
    }
}
