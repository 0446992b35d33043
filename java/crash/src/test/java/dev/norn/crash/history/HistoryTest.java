package dev.norn.crash.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The checker says nothing of histories that may be, and notices each kind of one that must not. */
class HistoryTest {
    @TempDir
    Path directory;

    /** The findings if two registers have these numbers at the end. */
    private List<String> check(long[] first, long[] second, String... lines) throws IOException {
        return check(List.of(), first, second, lines);
    }

    private List<String> check(List<Snapshot> earlier, long[] first, long[] second, String... lines)
            throws IOException {
        return history(lines).check(snapshot("end", 1000, first, second), earlier);
    }

    private History history(String... lines) throws IOException {
        Files.write(directory.resolve("1.0.journal"), List.of(lines).stream().map(line -> line + " ;").toList());
        return History.read(directory);
    }

    private static Snapshot snapshot(String name, long time, long[] first, long[] second) {
        return new Snapshot(name, time, time + 1, List.of(first, second), List.of());
    }

    private static long[] ids(long... ids) {
        return ids;
    }

    private static void assertOne(String part, List<String> findings) {
        assertTrue(findings.size() == 1 && findings.getFirst().contains(part), part + ": " + findings);
    }

    @Test
    void aSerialHistoryIsAccepted() throws IOException {
        assertEquals(List.of(), check(ids(1, 3), ids(2), "begin 1 10 0", "commit 1 20 0:0:0:a", "begin 2 30 1",
                "commit 2 40 0:1:1:r 1:0:0:a", "begin 3 50 0", "commit 3 60 0:1:1:a 1:1:2:r", "begin 4 70",
                "commit 4 80 0:0:3:l"));
    }

    @Test
    void anAcknowledgedTransactionThatIsNotThereIsLost() throws IOException {
        assertOne("1 was acknowledged as number 0 and is lost",
                check(ids(), ids(), "begin 1 10 0", "commit 1 20 0:0:0:a"));
    }

    @Test
    void anUpdateThatAnotherOverwroteIsLost() throws IOException {
        assertTrue(check(ids(1, 2), ids(), "begin 1 10 0", "commit 1 20 0:0:0:a", "begin 2 10 0", "commit 2 20 0:0:0:a")
                .toString().contains("2 was acknowledged as number 0 and is lost"));
    }

    @Test
    void whatWasUndoneMustNotBeThere() throws IOException {
        assertOne("which was undone", check(ids(1), ids(), "begin 1 10 0", "undone 1 20 planned"));
    }

    @Test
    void whatANestedRunThrewAwayMustNotBeThere() throws IOException {
        assertOne("what a nested run of 1 threw away", check(ids(-1), ids(), "begin 1 10"));
    }

    @Test
    void whatNobodyBeganMustNotBeThere() throws IOException {
        assertOne("which no transaction began", check(ids(7), ids()));
    }

    @Test
    void anUnknownTransactionIsThereAsAWholeOrNotAtAll() throws IOException {
        assertEquals(List.of(), check(ids(1), ids(1), "begin 1 10 0,1"));
        assertEquals(List.of(), check(ids(), ids(), "begin 1 10 0,1"));
        assertOne("1 is in 1 of its 2 registers", check(ids(1), ids(), "begin 1 10 0,1"));
    }

    @Test
    void aDirtyReadSawWhatIsNotThere() throws IOException {
        assertOne("saw 1 numbers to 7, which are not there",
                check(ids(), ids(), "begin 1 10", "commit 1 20 0:1:7:r", "begin 7 10 0", "undone 7 15 planned"));
        assertOne("which are not there", check(ids(), ids(), "begin 1 10", "commit 1 20 0:0:7:l"));
    }

    @Test
    void writeSkewIsACycle() throws IOException {
        assertOne("rw of register", check(ids(1), ids(2), "begin 1 10 0", "commit 1 40 0:0:0:a 1:0:0:r", "begin 2 10 1",
                "commit 2 40 1:0:0:a 0:0:0:r"));
    }

    @Test
    void aStaleReadIsACycleWithRealTime() throws IOException {
        assertOne("time",
                check(ids(1), ids(), "begin 1 10 0", "commit 1 20 0:0:0:a", "begin 2 30", "commit 2 40 0:0:0:r"));
    }

    @Test
    void whatASnapshotHadStays() throws IOException {
        String[] lines = {"begin 1 10 0", "begin 2 10 0"};
        assertEquals(List.of(), check(List.of(snapshot("backup", 50, ids(1), ids())), ids(1, 2), ids(), lines));
        assertOne("backup has 2 at 0, and later it is not there",
                check(List.of(snapshot("backup", 50, ids(2), ids())), ids(1), ids(), lines));
    }

    @Test
    void aSnapshotIsAMomentOfTheHistory() throws IOException {
        assertOne("backup", check(List.of(snapshot("backup", 50, ids(), ids(2))), ids(1), ids(2), "begin 1 10 0",
                "commit 1 20 0:0:0:a", "begin 2 30 1", "commit 2 40 1:0:0:a"));
    }

    @Test
    void aLossThatWasAcceptedEndsBetweenTransactions() throws IOException {
        History history = history("begin 1 10 0,1", "commit 1 20 0:0:0:a 1:0:0:a", "begin 2 30 0,1",
                "commit 2 40 0:1:1:a 1:1:1:a");
        assertEquals(List.of(), history.checkCut(snapshot("cut", 50, ids(1), ids(1))));
        assertOne("2 is in 1 of its 2 registers", history.checkCut(snapshot("cut", 50, ids(1, 2), ids(1))));
    }

    @Test
    void onlyWhatNoLaterRecordVouchesForMayBeMissing() throws IOException {
        History history =
                history("begin 1 10 0", "commit 1 20 0:0:0:a", "begin 2 30 0", "commit 2 40 0:1:1:a").withoutTail();
        assertEquals(List.of(), history.check(snapshot("copy", 50, ids(1), ids()), List.of()));
        assertOne("1 was acknowledged as number 0 and is lost",
                history.check(snapshot("copy", 50, ids(), ids()), List.of()));
    }

    @Test
    void aLineThatAKillCutOffSaysNothing() throws IOException {
        Files.writeString(directory.resolve("2.0.journal"), "begin 5 10 0 ;\ncommit 5 20 0:0:0");
        assertEquals(List.of(), check(ids(), ids()));
    }
}
