package dev.norn.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever is thrown at any point inside a latched section, no latch is kept, and every JVM continues. */
class ThrowingTest {
    /** Once, or with each kind of throwable. */
    private static final int THROWS_AT_EACH = Integer.getInteger("crash.throws", 1);
    private static final int WATCHDOG_SECONDS = 60;

    @Test
    void noLatchIsKeptWhateverIsThrown() throws Exception {
        Throwing.Result result = Throwing.run(Children.prepare(), THROWS_AT_EACH, WATCHDOG_SECONDS);
        System.out.println(result);
        assertEquals(List.of(), result.findings());
    }
}
