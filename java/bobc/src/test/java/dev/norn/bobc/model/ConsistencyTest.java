package dev.norn.bobc.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.bobc.workload.Scale;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each consistency condition holds after populating, and is seen to be broken when it is. */
class ConsistencyTest {
    private static final Scale SCALE = Scale.HUNDREDTH;

    private static void assertBreaks(int condition, java.util.function.Consumer<District> damage) {
        Company company = new Company();
        new Population(company, SCALE, 1997, Runnable::run).run(1);
        assertEquals(List.of(), Consistency.check(company, SCALE, Runnable::run));
        damage.accept(company.warehouse(1).district(3));
        List<String> findings = Consistency.check(company, SCALE, Runnable::run);
        assertTrue(findings.stream().anyMatch(finding -> finding.startsWith("condition " + condition + ":")),
                condition + " is not among " + findings);
    }

    @Test
    void eachConditionCanFail() {
        assertBreaks(1, district -> district.warehouse.year++);
        assertBreaks(2, district -> district.nextOrder++);
        assertBreaks(2, district -> district.newest = district.oldest);
        assertBreaks(3, district -> district.oldest.next = district.oldest.next.next);
        assertBreaks(5, district -> district.newest.order.carrier = 3);
        assertBreaks(6, district -> district.orders.get(4).lineCount++);
        assertBreaks(7, district -> district.orders.get(4).lines.delivered = 0);
        assertBreaks(8, district -> district.customer(2).pay(1, district, 0));
        assertBreaks(9, district -> district.receive(1));
        assertBreaks(10, district -> district.customer(5).balance++);
        assertBreaks(12, district -> district.customer(5).paid++);
        assertBreaks(0, district -> district.customers.removeLast());
    }
}
