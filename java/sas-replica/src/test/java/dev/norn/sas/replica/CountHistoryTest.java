package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.norn.sas.replica.CountHistory.Operation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The check of histories finds what is not linearizable, and nothing else: held against all orders of small ones. */
class CountHistoryTest {
    private static Operation operation(long total, String kind, long start, long end) {
        return new Operation(total, kind, start, end, kind + " " + total + " " + start + "-" + end);
    }

    @Test
    void aStaleReadAndACountThatIsOvertakenAreFound() {
        assertEquals(null, CountHistory.findViolation(new ArrayList<>(List.of(operation(1, "count", 0, 10),
                operation(2, "count", 5, 20), operation(1, "read", 6, 12), operation(2, "read", 15, 30)))));
        assertNotNull(CountHistory.findViolation(new ArrayList<>(List.of(operation(1, "count", 0, 1),
                operation(2, "count", 2, 3), operation(1, "read", 4, 5)))));
        assertNotNull(CountHistory.findViolation(new ArrayList<>(List.of(operation(2, "count", 0, 1),
                operation(1, "count", 2, 3)))));
        // Of a count that is not acknowledged, or not yet.
        assertNotNull(CountHistory.findViolation(new ArrayList<>(List.of(operation(1, "read", 0, 1),
                operation(1, "count", 2, 3)))));
    }

    @Test
    void itAgreesWithASearchOfAllOrders() {
        Random random = new Random(7);
        int[] found = new int[2];
        for (int round = 0; round < 20_000; round++) {
            int counts = 1 + random.nextInt(3);
            List<Operation> all = new ArrayList<>();
            for (int i = 1; i <= counts; i++) {
                all.add(random(random, i, "count"));
            }
            for (int i = random.nextInt(3); i > 0; i--) {
                all.add(random(random, random.nextInt(counts + 1), "read"));
            }
            boolean isLinearizable = search(all, 0);
            Collections.shuffle(all, random);
            assertEquals(isLinearizable, CountHistory.findViolation(new ArrayList<>(all)) == null, all.toString());
            found[isLinearizable ? 1 : 0]++;
        }
        assertEquals(20_000, found[0] + found[1]);
        assertEquals(true, found[0] > 1000 && found[1] > 1000, found[0] + " and " + found[1]);
    }

    private static Operation random(Random random, long total, String kind) {
        long start = random.nextInt(12);
        return operation(total, kind, start, start + 1 + random.nextInt(8));
    }

    /** Wing and Gong: takes each operation first before which none has ended, if the counter allows it. */
    private static boolean search(List<Operation> left, long total) {
        if (left.isEmpty()) {
            return true;
        }
        long firstEnd = left.stream().mapToLong(Operation::end).min().orElseThrow();
        for (Operation one : left) {
            boolean isCount = one.kind().equals("count");
            if (one.start() <= firstEnd && one.total() == (isCount ? total + 1 : total)) {
                List<Operation> rest = new ArrayList<>(left);
                rest.remove(one);
                if (search(rest, one.total())) {
                    return true;
                }
            }
        }
        return false;
    }
}
