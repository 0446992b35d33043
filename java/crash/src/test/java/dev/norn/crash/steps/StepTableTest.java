package dev.norn.crash.steps;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A named step that the code no longer has is an error, and not nothing. */
class StepTableTest {
    @Test
    void aStepThatIsGoneIsAnError() {
        var gone = assertThrows(IllegalStateException.class, () -> StepTable.find(List.of("RedoLog.append>LogFile.write#1 before", "RedoLog.append>LogFile.write#1 after")));
        assertTrue(gone.getMessage().contains("LogFile.writeHeader calls FileChannel.force"), gone.getMessage());
    }
}
