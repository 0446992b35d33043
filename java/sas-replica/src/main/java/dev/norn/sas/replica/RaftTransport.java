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
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;

/** Groups by Raft: what {@link Store#open(java.nio.file.Path, Group)} finds as a service. */
public final class RaftTransport implements GroupTransport {
    @Override
    public Member connect(Store store, UUID id, Group group, Opening opening, MembersKeeper keeper)
            throws IOException {
        RaftMember member = new RaftMember(store, raftGroup(id, group.members()), group, opening, keeper);
        try {
            member.start();
            return member;
        } catch (CompletionException e) {
            member.close();
            if (e.getCause() instanceof IOException cause) {
                throw cause;
            }
            throw e;
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
    public void join(Path directory, Group group, Consumer<String> step) throws IOException {
        new NewMember(step).join(directory, group);
    }

    @Override
    public void remove(UUID id, Map<String, String> members, String name, Consumer<String> step) {
        new NewMember(step).remove(raftGroup(id, members), name);
    }

    static RaftGroup raftGroup(UUID id, Map<String, String> members) {
        return RaftGroup.valueOf(RaftGroupId.valueOf(id), members.entrySet().stream()
                .map(one -> RaftPeer.newBuilder().setId(one.getKey()).setAddress(one.getValue()).build()).toList());
    }

    @Override
    public List<MemberStatus> status(UUID id, Map<String, String> members, Duration wait) {
        long end = System.nanoTime() + wait.toNanos();
        Map<String, Question<GroupMachine.Answer>> asked = ask(raftGroup(id, members), wait);
        Map<String, String> now = membersOfLeader(asked);
        Map<String, String> all = now == null ? members : now;
        if (!all.equals(members)) {
            // Some were added, removed or moved since these were written down.
            Map<String, String> others = new TreeMap<>(all);
            others.entrySet().removeAll(members.entrySet());
            asked.keySet().retainAll(all.keySet());
            asked.putAll(ask(raftGroup(id, others), Duration.ofNanos(Math.max(0, end - System.nanoTime()))));
        }
        long acknowledged = asked.values().stream().map(one -> one.answer().join())
                .filter(answer -> answer != null && answer.role() == Role.LEADER)
                .mapToLong(GroupMachine.Answer::number).max().orElse(-1);
        return asked.entrySet().stream()
                .map(one -> status(one.getKey(), all.get(one.getKey()), one.getValue(), acknowledged)).toList();
    }

    /** What became of it is the same for all who know. */
    @Override
    public Outcome outcome(UUID id, Map<String, String> members, long epoch, long number, Duration wait) {
        List<Outcome> known = Question.ask(raftGroup(id, members), GroupMachine.outcomeOf(epoch, number), wait,
                answer -> Outcome.valueOf(GroupMachine.text(answer))).values().stream().map(one -> one.answer().join())
                .filter(Objects::nonNull).toList();
        if (known.isEmpty()) {
            throw new StorageReadFailure("no member of the group " + members + " answers within " + wait.toMillis()
                    + " ms", null);
        }
        return known.stream().filter(one -> one == Outcome.COMMITTED || one == Outcome.UNDONE).findFirst()
                .orElse(known.contains(Outcome.NOT_YET) ? Outcome.NOT_YET : Outcome.FORGOTTEN);
    }

    private static Map<String, Question<GroupMachine.Answer>> ask(RaftGroup group, Duration wait) {
        return Question.ask(group, Message.EMPTY, wait, GroupMachine.Answer::of);
    }

    /** Who counts, as the leader says; null if none answers. Those that are being removed count. */
    static Map<String, String> membersOfLeader(RaftGroup group, Duration wait) {
        return membersOfLeader(ask(group, wait));
    }

    /** Returns as soon as the leader has answered. */
    private static Map<String, String> membersOfLeader(Map<String, Question<GroupMachine.Answer>> asked) {
        CompletableFuture<Map<String, String>> members = new CompletableFuture<>();
        CompletableFuture.allOf(asked.values().stream().map(one -> one.answer().thenAccept(answer -> {
            if (answer != null && answer.role() == Role.LEADER) {
                members.complete(answer.members());
            }
        })).toArray(CompletableFuture[]::new)).thenRun(() -> members.complete(null));
        return members.join();
    }

    private static MemberStatus status(String name, String address, Question<GroupMachine.Answer> asked,
            long acknowledged) {
        GroupMachine.Answer answer = asked.answer().join();
        return answer == null ? MemberStatus.unreachable(name, address, asked.problem())
                : new MemberStatus(name, address, answer.role(), answer.term(), answer.applied(), answer.number(),
                        acknowledged < 0 ? -1 : Math.max(0, acknowledged - answer.number()), null);
    }
}
