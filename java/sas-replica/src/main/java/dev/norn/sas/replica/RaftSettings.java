package dev.norn.sas.replica;

import dev.norn.sas.Group;
import dev.norn.sas.store.log.Replication;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** How a member's Raft server is set up, and why. */
final class RaftSettings {
    /**
     * A member that has heard nothing of a leader for so long wants another one. A follower sleeps for a random time
     * between {@link Group#electionMillis} and so many times as long, and looks then, so it may notice after twice the
     * longer one. At Ratis' defaults, 150 and 300 ms, leaders are lost under load.
     */
    private static final double ELECTION_SPREAD = 1.8;
    /** Pauses before a leader tries a member again that cannot be reached. Ratis' own grow to 5 s. */
    private static final String RETRY_PAUSES = "1ms,10, 100ms,100, 500ms,1000000";

    /** The longest record, what is before it in its batch, and what Raft adds. Ratis' buffer for writing has 8 MB. */
    private static final int ENTRY_BYTES_MAX = Replication.RECORD_BYTES_MAX + Shipper.BATCH_BYTES + (1 << 20);
    private static final long SEGMENT_BYTES_MAX = 8 << 20;
    private static final int SEGMENTS = 4;
    private static final int CHUNK_BYTES = 4 << 20;
    private static final int COPY_MILLIS_MAX = 60_000;

    private RaftSettings() {}

    static RaftProperties of(Group group, int port) {
        int electionMillisMax = (int) (group.electionMillis() * ELECTION_SPREAD);
        RaftProperties properties = new RaftProperties();
        RaftConfigKeys.Rpc.setType(properties, new ReconnectingRpc());
        RaftServerConfigKeys.setStorageDir(properties, List.of(group.log().toFile()));
        GrpcConfigKeys.Server.setPort(properties, port);
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, millis(group.electionMillis()));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, millis(electionMillisMax));
        // A leader that has lost its majority stands for election again only after so long, and one that was stopped
        // for as long steps down: the others have wanted another one by then. It may be the only one that can be
        // elected, as the others lack its last entry: at Ratis' default, there was no leader for 10 s.
        RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(properties, millis(2 * electionMillisMax));
        RaftServerConfigKeys.Log.Appender.setRetryPolicy(properties, RETRY_PAUSES);
        // Batches under way would wait for each other.
        RaftServerConfigKeys.Log.Appender.setWaitTimeMin(properties, millis(0));
        RaftServerConfigKeys.Log.Appender.setBufferByteLimit(properties, SizeInBytes.valueOf(ENTRY_BYTES_MAX));
        // A follower would write an entry only when the one before it is on disk, and by way of two more threads.
        RaftServerConfigKeys.Log.setAppendEntriesComposeEnabled(properties, false);
        // What is cut off is whole segments; those of the default are half as long as all that is kept.
        long segment = Math.min(SEGMENT_BYTES_MAX, group.logBytes() / SEGMENTS);
        RaftServerConfigKeys.Log.setSegmentSizeMax(properties, SizeInBytes.valueOf(segment));
        RaftServerConfigKeys.Log.setPreallocatedSize(properties, SizeInBytes.valueOf(segment / 2));
        RaftServerConfigKeys.Log.setPurgeGap(properties, 1);
        RaftServerConfigKeys.Log.Appender.setSnapshotChunkSizeMax(properties, SizeInBytes.valueOf(CHUNK_BYTES));
        GrpcConfigKeys.Server.setInstallSnapshotRequestTimeout(properties, millis(COPY_MILLIS_MAX));
        // How long a member that is added may be silent: it writes the store meanwhile.
        RaftServerConfigKeys.setStagingTimeout(properties, millis(COPY_MILLIS_MAX));
        // An entry for each commit of an entry, otherwise.
        RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
        RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
        // A leader that was stopped would answer from a lease that it believes in.
        RaftServerConfigKeys.Read.setLeaderLeaseEnabled(properties, false);
        return properties;
    }

    private static TimeDuration millis(int millis) {
        return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
    }
}
