package dev.norn.bobc.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.bobc.workload.Scale;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Each consistency condition holds for new rows, and is seen to be broken when it is; rows come back from bytes as they
 * were.
 */
class RowConsistencyTest {
    private static final long DISTRICT = Keys.district(1, 3);

    private final Map<Class<?>, TreeMap<Long, Row>> tables = new HashMap<>();

    private <R extends Row> R row(Class<R> type, long id) {
        return type.cast(tables.get(type).get(id));
    }

    private List<String> check() {
        return RowConsistency.check(new RowConsistency.Tables() {
            @Override
            public <R extends Row> void each(Class<R> type, Consumer<R> consumer) {
                tables.get(type).values().forEach(row -> consumer.accept(type.cast(row)));
            }
        });
    }

    private void fill() {
        tables.clear();
        new RowPopulation(Scale.HUNDREDTH, 1997,
                row -> tables.computeIfAbsent(row.getClass(), key -> new TreeMap<>()).put(row.id, row)).run(1);
    }

    private void assertBreaks(int condition, Runnable damage) {
        fill();
        assertEquals(List.of(), check());
        damage.run();
        List<String> findings = check();
        assertTrue(findings.stream().anyMatch(finding -> finding.startsWith("condition " + condition + ":")),
                condition + " is not among " + findings);
    }

    @Test
    void eachConditionCanFail() {
        long order = Keys.order(DISTRICT, 5);
        long last = Keys.order(DISTRICT, Scale.HUNDREDTH.customers());
        long customer = Keys.customer(DISTRICT, 7);
        assertBreaks(1, () -> row(WarehouseRow.class, 1).year++);
        assertBreaks(2, () -> row(DistrictRow.class, DISTRICT).nextOrder++);
        assertBreaks(2, () -> tables.get(NewOrderRow.class).remove(last));
        assertBreaks(3, () -> tables.get(NewOrderRow.class).remove(last - 1));
        assertBreaks(4, () -> tables.get(OrderLineRow.class).remove(Keys.line(order, 1)));
        assertBreaks(5, () -> row(OrderRow.class, last).carrier = 3);
        assertBreaks(6, () -> row(OrderRow.class, order).lineCount++);
        assertBreaks(7, () -> row(OrderLineRow.class, Keys.line(order, 1)).delivered = 0);
        assertBreaks(8, () -> row(WarehouseRow.class, 1).year++);
        assertBreaks(9, () -> row(DistrictRow.class, DISTRICT).year++);
        assertBreaks(10, () -> row(CustomerRow.class, customer).balance++);
        assertBreaks(12, () -> row(CustomerRow.class, customer).paid++);
    }

    @Test
    void rowsComeBackFromBytes() throws Exception {
        fill();
        for (Class<? extends Row> type : RowPopulation.TYPES) {
            Row row = tables.get(type).firstEntry().getValue();
            ByteBuffer bytes = ByteBuffer.allocate(4096);
            row.pass(new RowStream.Writer(bytes));
            Row again = type.getConstructor().newInstance();
            again.pass(new RowStream.Reader(bytes.flip()));
            assertEquals(0, bytes.remaining(), type.getSimpleName());
            ByteBuffer twice = ByteBuffer.allocate(4096);
            again.pass(new RowStream.Writer(twice));
            assertEquals(bytes.rewind(), twice.flip(), type.getSimpleName());
            for (var field : type.getFields()) {
                if (!field.getName().equals("id") && field.getType() != AddressPart.class) {
                    assertEquals(field.get(row), field.get(again), type.getSimpleName() + "." + field.getName());
                }
            }
        }
    }
}
