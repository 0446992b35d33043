package dev.norn.crash.steps;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A named step that the code no longer has is an error, and not nothing. */
class StepTableTest {
    @Test
    void aStepThatIsGoneIsAnError() {
        var gone = assertThrows(IllegalStateException.class, () -> StepTable.find(
                List.of("RedoLog.append>LogFile.write#1 before", "RedoLog.append>LogFile.write#1 after")));
        assertTrue(gone.getMessage().contains("LogFile.writeHeader calls FileChannel.force"), gone.getMessage());
    }

    @Test
    void stepsAreFoundByHowTheirNamesBegin() {
        List<String> sites = List.of("RedoLog.append>LogFile.write#1 before", "RedoLog.append>LogFile.write#1 after",
                "RedoLog.sync>LogFile.sync#1 before");
        assertEquals(List.of(0, 1), StepTable.numbers(sites, "RedoLog.append>LogFile.write"));
        var gone = assertThrows(IllegalStateException.class, () -> StepTable.numbers(sites, "RedoLog.commit"));
        assertTrue(gone.getMessage().contains("RedoLog.commit"), gone.getMessage());
    }
}
