package dev.norn.bobc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The paper's sheet, computed again, gives what the paper published, up to an amount that all its rows have. */
class PaperSheetTest {
    private static final List<PaperSheet.Row> ROWS = PaperSheet.rows();

    private static double missing(int row) {
        return ROWS.get(row).published() - ROWS.get(row).computed();
    }

    @Test
    void tablesAndSavingsAreThePublishedOnes() {
        assertEquals(ROWS.get(0).published(), ROWS.get(0).computed(), 0.5);
        assertEquals(ROWS.get(5).published(), ROWS.get(5).computed(), 1.5);
        assertEquals(ROWS.get(6).published(), ROWS.get(6).computed(), 0.5);
    }

    @Test
    void eachSizeOfReferencesTakesAsMuchMoreThanTheOneBefore() {
        for (int row = 1; row <= 4; row++) {
            assertEquals(13.5, missing(row), 2, ROWS.get(row).name());
        }
    }

    @Test
    void twoLevelsAreAQuarterBelowAndNotAThird() {
        String last = PaperSheet.lines().getLast();
        assertTrue(last.startsWith("two levels take 24% less than 128-bit references (published totals: 24%"), last);
    }
}
