package dev.norn.bobc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An evaluation continues where it was interrupted, and does again what was described differently or failed. Its report
 * names what failed.
 */
class EvaluationTest {
    @TempDir
    Path directory;

    private int measured;

    private Evaluation evaluation() throws Exception {
        return new Evaluation(Evaluation.Length.QUICK, directory, directory, directory);
    }

    private Figures measure() {
        measured++;
        return new Figures().with("size", measured);
    }

    @Test
    void runsAreKept() throws Exception {
        assertEquals(1, evaluation().figures("one", "so", this::measure).orElseThrow().whole("size"));
        assertEquals(1, evaluation().figures("one", "so", this::measure).orElseThrow().whole("size"));
        assertEquals(2, evaluation().figures("one", "otherwise", this::measure).orElseThrow().whole("size"));
        assertEquals(2, measured);
    }

    @Test
    void failuresAreNamedAndTriedAgain() throws Exception {
        Evaluation first = evaluation();
        assertTrue(first.figures("one", "so", () -> {
            throw new RunFailed("it rained");
        }).isEmpty());
        assertEquals(List.of("one: it rained"), first.failures());
        String report = Files.readString(first.finish());
        assertTrue(report.contains("- one: it rained") && report.contains("A quick run"), report);
        assertFalse(evaluation().figures("one", "so", this::measure).isEmpty());
    }

    @Test
    void damagedFiguresAreNotTaken() {
        assertEquals(3.5, Figures.decode(new Figures().with("a", 3.5).with("b", 1).encode()).get("a"));
        assertThrows(IllegalStateException.class, () -> Figures.decode("bobc;a=3.5;b"));
        assertThrows(IllegalStateException.class, () -> new Figures().get("a"));
    }

    @Test
    void tablesAreGroupedByDurability() {
        var outcome = new Drive.Outcome(60, new long[] {7, 0, 0, 0, 0}, 0, 0, 7, new Drive.Usage(1, 1, 1, 1, 1),
                new Peer.Counts(10, 10, 10));
        Map<PeerKind, List<Report>> reports = new LinkedHashMap<>();
        reports.put(PeerKind.PLAIN, List.of(new Report(outcome, 1, 1, 1)));
        reports.put(PeerKind.SAS, List.of(new Report(outcome, 1, 1, 1)));
        String table = new PeerTable(reports, PeerKind.H2).toString();
        assertTrue(table.indexOf("a stop of the machine**") < table.indexOf("SAS")
                && table.indexOf("SAS") < table.indexOf("nothing**")
                && table.indexOf("nothing**") < table.indexOf("plain Java objects"), table);
    }
}
