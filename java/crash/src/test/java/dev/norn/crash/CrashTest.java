package dev.norn.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.norn.crash.program.Hazard;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * JVMs that share a store are killed, frozen and paused at random and at every named step, pools are thrown away, logs
 * and containers damaged: what was acknowledged is there, in its order, nothing else is half there, and no process
 * waits for ever. More rounds with {@code -Dcrash.rounds=N}, others with {@code -Dcrash.seed=S}.
 */
class CrashTest {
    private static final int ROUNDS = Integer.getInteger("crash.rounds", 30);
    private static final long SEED = Long.getLong("crash.seed", 1997);
    private static final int LANES = 2;
    private static final int WATCHDOG_SECONDS = 60;
    /** From this number of rounds on, each has a line. */
    private static final int LONG = 100;

    @Test
    void whatJvmsAcknowledgeSurvivesThem() throws Exception {
        Campaign.Result result = new Campaign(ROUNDS, SEED, LANES, ROUNDS < LONG, EnumSet.allOf(Hazard.class),
                WATCHDOG_SECONDS).run(Children.prepare(), round -> {
            if (ROUNDS >= LONG || round.finding() != null) {
                System.out.println(round);
            }
        });
        System.out.println("crash harness: " + result);
        assertEquals(List.of(), result.failed(), "seeds of rounds that found something");
    }
}
