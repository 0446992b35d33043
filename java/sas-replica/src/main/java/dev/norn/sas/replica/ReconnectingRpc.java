package dev.norn.sas.replica;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcLogAppender;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.grpc.server.GrpcServicesImpl;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.RaftServerAsynchronousProtocol;
import org.apache.ratis.thirdparty.io.grpc.Context;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.StatusRuntimeException;

/**
 * Ratis over gRPC, where a call that finds no connection makes one. gRPC tries a connection that has failed again after
 * a pause that grows with each attempt, to minutes, and refuses all calls meanwhile: so a member that was started again
 * would not be asked for its vote. What a connection that is lost without a word has under way is sent again after
 * pauses that grow as well. Ratis makes an instance by the class's name.
 */
public final class ReconnectingRpc implements RpcType {
    /** A connection that was made so shortly before is not made anew: who is not there would be asked all the time. */
    private static final long PAUSE_NANOS = 250_000_000;
    /** A member that has not answered its leader for so long. It answers several times a second otherwise. */
    private static final long SILENT_MILLIS = 5_000;
    /** What is under way to it ends 3 s later. */
    private static final long SILENT_PAUSE_NANOS = 10_000_000_000L;

    @Override
    public String name() {
        return getClass().getName();
    }

    @Override
    public RpcFactory newFactory(Parameters parameters) {
        return new Factory(parameters);
    }

    private static final class Factory extends GrpcFactory {
        private volatile Calls calls;

        Factory(Parameters parameters) {
            super(parameters);
        }

        @Override
        public GrpcServices newRaftServerRpc(RaftServer server) {
            Calls its = new Calls((GrpcServicesImpl) super.newRaftServerRpc(server));
            calls = its;
            return (GrpcServices) Proxy.newProxyInstance(getClass().getClassLoader(),
                    new Class<?>[] {GrpcServices.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("close")) {
                            its.underWay.cancel(null);
                        }
                        return switch (method.getName()) {
                            case "requestVote" -> its.requestVote((RequestVoteRequestProto) arguments[0]);
                            case "async" -> its;
                            default -> invoke(method, its.services, arguments);
                        };
                    });
        }

        private static Object invoke(Method method, Object services, Object[] arguments) throws Throwable {
            try {
                return method.invoke(services, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        @Override
        public LogAppender newLogAppender(RaftServer.Division division, LeaderState state, FollowerInfo follower) {
            return new Appender(division, state, follower, calls);
        }
    }

    /** What a leader sends to another member. */
    private static final class Appender extends GrpcLogAppender {
        private final Calls calls;

        Appender(RaftServer.Division division, LeaderState state, FollowerInfo follower, Calls calls) {
            this.calls = calls;
            super(division, state, follower);
        }

        /** What it is by default is not of the class that is wanted. */
        @Override
        public GrpcServicesImpl getServerRpc() {
            return calls.services;
        }

        @Override
        public void run() throws IOException {
            Context before = calls.underWay.attach();
            try {
                super.run();
            } finally {
                calls.underWay.detach(before);
            }
        }

        /** Asked all the time. */
        @Override
        public boolean shouldSendAppendEntries() {
            if (getFollower().getLastRpcResponseTime().elapsedTimeMs() > SILENT_MILLIS) {
                Thread.startVirtualThread(() -> calls.renew(getFollowerId(), SILENT_PAUSE_NANOS));
            }
            return super.shouldSendAppendEntries();
        }
    }

    /** What a member asks another one. */
    private static final class Calls implements RaftServerAsynchronousProtocol {
        private final GrpcServicesImpl services;
        /** Closing a member would wait for calls to others that are silent, for 6 s. */
        private final Context.CancellableContext underWay = Context.ROOT.withCancellation();
        private final Map<RaftPeerId, Long> renewed = new ConcurrentHashMap<>();

        Calls(GrpcServicesImpl services) {
            this.services = services;
        }

        /** Asks again if there was no connection. Asked twice in one term, a member gives the same answer. */
        RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws Exception {
            try {
                return underWay.call(() -> services.requestVote(request));
            } catch (StatusRuntimeException e) {
                if (renew(asked(request.getServerRequest())) && isUnavailable(e)) {
                    return underWay.call(() -> services.requestVote(request));
                }
                throw e;
            }
        }

        /** Who reads asks again. */
        @Override
        public CompletableFuture<ReadIndexReplyProto> readIndexAsync(ReadIndexRequestProto request)
                throws IOException {
            return services.async().readIndexAsync(request).whenComplete((reply, failure) -> {
                if (failure instanceof StatusRuntimeException) {
                    Thread.startVirtualThread(() -> renew(asked(request.getServerRequest())));
                }
            });
        }

        @Override
        public CompletableFuture<AppendEntriesReplyProto> appendEntriesAsync(AppendEntriesRequestProto request)
                throws IOException {
            return services.async().appendEntriesAsync(request);
        }

        private static RaftPeerId asked(RaftRpcRequestProto request) {
            return RaftPeerId.valueOf(request.getReplyId());
        }

        private static boolean isUnavailable(StatusRuntimeException failure) {
            return failure.getStatus().getCode() == Status.Code.UNAVAILABLE;
        }

        private boolean renew(RaftPeerId member) {
            return renew(member, PAUSE_NANOS);
        }

        /**
         * Lets the next call to a member make a connection, unless that was so a short time ago; returns whether it
         * does. Waits for calls that are under way, up to 6 s.
         */
        boolean renew(RaftPeerId member, long pauseNanos) {
            long now = System.nanoTime();
            long before = renewed.getOrDefault(member, now - pauseNanos);
            if (now - before < pauseNanos) {
                return false;
            }
            renewed.put(member, now);
            services.handleException(member, new IOException("there is no connection"), true);
            return true;
        }
    }
}
