package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.norn.sas.Group;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Test;

/** How a member is set up. */
class RaftSettingsTest {
    @Test
    void allTimesOfElectionsFollowTheGroups() {
        Group group = new Group("a", Map.of("a", "localhost:1"), Path.of("log"));
        for (int millis : new int[] {Group.ELECTION_MILLIS, 3000}) {
            RaftProperties properties = RaftSettings.of(group.withElectionMillis(millis), 1);
            assertEquals(millis, millis(RaftServerConfigKeys.Rpc.timeoutMin(properties)));
            assertEquals(millis * 9 / 5, millis(RaftServerConfigKeys.Rpc.timeoutMax(properties)));
            assertEquals(millis * 18 / 5,
                    millis(RaftServerConfigKeys.LeaderElection.leaderStepDownWaitTime(properties)));
        }
    }

    private static long millis(TimeDuration duration) {
        return duration.toLong(TimeUnit.MILLISECONDS);
    }
}
