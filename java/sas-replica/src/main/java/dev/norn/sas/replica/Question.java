package dev.norn.sas.replica;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.util.TimeDuration;

/**
 * A question to one member, over a connection of its own. Raft's client says of a member that does not answer no more
 * than that. So a plain connection is made first, which says why.
 */
final class Question<T> {
    /** A member that was just opened knows of no entry that is committed. */
    private static final long NOTHING_COMMITTED = -1;

    private final RaftGroup group;
    private final RaftPeer member;
    private final Duration wait;
    private final CompletableFuture<T> answer;
    private volatile String problem;

    private Question(RaftGroup group, RaftPeer member, Duration wait) {
        this.group = group;
        this.member = member;
        this.wait = wait;
        problem = "takes no connection within " + seconds();
        answer = new CompletableFuture<T>().completeOnTimeout(null, wait.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Asks all members at once. Returns the questions by the names of the members. */
    static <T> Map<String, Question<T>> ask(RaftGroup group, Message question, Duration wait,
            Function<Message, T> understand) {
        Map<String, Question<T>> asked = new TreeMap<>();
        for (RaftPeer peer : group.getPeers()) {
            Question<T> its = new Question<>(group, peer, wait);
            Thread.ofPlatform().daemon().name("sas-question").start(() -> its.ask(question, understand));
            asked.put(peer.getId().toString(), its);
        }
        return asked;
    }

    /** Null if none comes in time. */
    CompletableFuture<T> answer() {
        return answer;
    }

    /** Why there is no answer; says nothing if there is one. */
    String problem() {
        return problem;
    }

    private String seconds() {
        return wait.toMillis() / 1000.0 + " s";
    }

    private void ask(Message question, Function<Message, T> understand) {
        if (isThere()) {
            problem = "takes connections, but does not answer within " + seconds();
            askServer(question, understand);
        }
    }

    private boolean isThere() {
        String address = member.getAddress();
        int colon = address.lastIndexOf(':');
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address.substring(0, colon),
                    Integer.parseInt(address.substring(colon + 1))), Math.toIntExact(Math.max(1, wait.toMillis())));
            return true;
        } catch (SocketTimeoutException e) {
            // That is the problem from the beginning.
        } catch (UnknownHostException e) {
            problem = "its host is not known here";
        } catch (ConnectException e) {
            problem = "refuses connections";
        } catch (IOException e) {
            problem = "cannot be reached: " + e.getMessage();
        }
        answer.complete(null);
        return false;
    }

    private void askServer(Message question, Function<Message, T> understand) {
        RaftProperties properties = new RaftProperties();
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties,
                TimeDuration.valueOf(wait.toMillis(), TimeUnit.MILLISECONDS));
        try (RaftClient client = RaftClient.newBuilder().setProperties(properties).setRaftGroup(group)
                .setRetryPolicy(RetryPolicies.noRetry()).build()) {
            RaftClientReply reply = client.io().sendStaleRead(question, NOTHING_COMMITTED, member.getId());
            if (reply.isSuccess()) {
                answer.complete(understand.apply(reply.getMessage()));
            } else {
                end(reply.getException());
            }
        } catch (IOException | RuntimeException e) {
            end(e);
        }
    }

    /** It begins or ends just now, say. */
    private void end(Exception reason) {
        if (!answer.isDone()) {
            Throwable first = reason;
            while (first.getCause() != null) {
                first = first.getCause();
            }
            problem = "takes connections, but gives no answer: " + first.getMessage();
            answer.complete(null);
        }
    }
}
