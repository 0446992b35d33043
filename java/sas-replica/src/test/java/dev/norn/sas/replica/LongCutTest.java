package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a member that was cut off has under way is sent again after pauses that double, so that it would be silent for
 * as long again once the network is whole.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LongCutTest {
    private static final int CUT_SECONDS = 60;
    /** A guard against what is described above. */
    private static final int BACK_SECONDS_MAX = 30;
    private static final int ACKNOWLEDGED = 100;
    private static final List<String> NAMES = List.of("a", "b", "c");

    @TempDir
    Path directory;

    @Test
    void aMemberThatWasCutOffForLongIsSoonBack() throws Exception {
        Assumptions.assumeTrue(Integer.getInteger("replica.five", 0) > 0, "takes minutes: make test-long");
        Assumptions.assumeTrue(NetworkGroup.isPossible(), "needs root, and ip of iproute2");
        try (NetworkGroup group = new NetworkGroup(directory, NAMES, "c", Map.of())) {
            for (String name : NAMES) {
                group.start(name, 1);
            }
            String leads = group.awaitOther("");
            group.awaitMore(ACKNOWLEDGED);
            String away = group.otherThan(leads);
            Set<String> others = Set.copyOf(NAMES.stream().filter(one -> !one.equals(away)).toList());
            group.drop(Set.of(away), others);
            group.drop(others, Set.of(away));
            Thread.sleep(TimeUnit.SECONDS.toMillis(CUT_SECONDS));
            String number = group.children.get(leads).ask("number");
            group.heal();
            long start = System.nanoTime();
            group.children.get(away).ask("describe " + number);
            long millis = (System.nanoTime() - start) / 1_000_000;
            group.children.get(away).ask("fresh");
            long readMillis = (System.nanoTime() - start) / 1_000_000;
            System.out.println("back after " + millis + " ms, reads fresh after " + readMillis + " ms");
            assertTrue(readMillis < BACK_SECONDS_MAX * 1000, millis + " ms, " + readMillis + " ms");
            group.history.check(group.stop());
        }
    }
}
