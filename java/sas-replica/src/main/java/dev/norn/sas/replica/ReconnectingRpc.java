package dev.norn.sas.replica;

import java.io.IOException;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;

/**
 * Ratis over gRPC, with connections that can be made anew. gRPC tries a connection that has failed again after a pause
 * that grows with each attempt, to minutes, and refuses all calls meanwhile: so a member that was started again would
 * not be asked for its vote. Ratis makes an instance by the class's name.
 */
public final class ReconnectingRpc implements RpcType {
    private static final String SERVER = ReconnectingRpc.class.getName() + ".server";

    @Override
    public String name() {
        return getClass().getName();
    }

    @Override
    public RpcFactory newFactory(Parameters parameters) {
        return new GrpcFactory(parameters) {
            @Override
            public GrpcServices newRaftServerRpc(RaftServer server) {
                GrpcServices services = super.newRaftServerRpc(server);
                parameters.put(SERVER, services, RaftServerRpc.class);
                return services;
            }
        };
    }

    /** Lets the next call to a member connect at once. Calls that are under way have 3 s to end. */
    static void reconnect(Parameters parameters, RaftPeerId member) {
        RaftServerRpc services = parameters.get(SERVER, RaftServerRpc.class);
        if (services != null) {
            services.handleException(member, new IOException("no leader is known"), true);
        }
    }
}
