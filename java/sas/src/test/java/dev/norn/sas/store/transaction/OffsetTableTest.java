package dev.norn.sas.store.transaction;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.norn.sas.store.memory.Format;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The table of what a transaction holds, beside a map: nothing of an earlier transaction is left, also when stamps
 * begin anew.
 */
class OffsetTableTest {
    @Test
    void agreesWithAMapAcrossTransactions() {
        long seed = Long.getLong("sas.seed", System.nanoTime());
        Random random = new Random(seed);
        OffsetTable table = new OffsetTable();
        Map<Long, Integer> model = new HashMap<>();
        for (int round = 0; round < 400; round++) {
            int keys = random.nextInt(10) == 0 ? 20_000 : 40;
            for (int step = 0; step < keys; step++) {
                long key = random.nextLong(keys) << 4 | (long) random.nextInt(3) << Format.GENERATION_SHIFT;
                assertEquals(model.getOrDefault(key, 0), table.get(key), "seed " + seed);
                if (random.nextBoolean()) {
                    int number = 1 + random.nextInt(Integer.MAX_VALUE);
                    table.put(key, number);
                    model.put(key, number);
                }
            }
            model.forEach((key, number) -> assertEquals(number, table.get(key), "seed " + seed));
            table.clear();
            model.clear();
        }
    }

    /** The first stamps come again, and what was left under them has to be gone. */
    @Test
    void behindTheLastStampNothingIsFound() {
        OffsetTable table = new OffsetTable();
        for (long key = 0; key < 20; key++) {
            table.put(key << 4, 7);
        }
        table.stamp = -1;
        for (int transaction = 0; transaction < 4; transaction++) {
            table.clear();
            for (long key = 0; key < 25; key++) {
                assertEquals(0, table.get(key << 4));
            }
            table.put(3 << 4, 5);
            assertEquals(5, table.get(3 << 4));
        }
    }
}
