package dev.norn.bobc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.norn.sas.exception.TransactionConflict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code bobc hot}: increments that are acknowledged are there, whichever thread or process makes them, and no conflict
 * reaches a caller. What it prints is right for known outcomes. Nothing here depends on how fast the machine is.
 */
class HotTest {
    private static final HotDrive.Time SECOND = new HotDrive.Time(1, 0);
    private static final int START_SECONDS = 120;
    private static final int END_SECONDS = 60;
    private static final long SEED = Long.getLong("bobc.seed", 1997);

    @TempDir
    Path directory;

    private int hot(Path on, String... more) {
        List<String> arguments = new ArrayList<>(List.of("hot", "--on=" + on, "--csv=" + directory.resolve("hot.csv"),
                "--seconds=1", "--warm-up=0", "--rounds=1", "--seed=" + SEED));
        arguments.addAll(List.of(more));
        return BobcCommand.run(arguments.toArray(String[]::new));
    }

    private List<String[]> runs() throws Exception {
        return Files.readAllLines(directory.resolve("hot.csv")).stream().skip(1).map(line -> line.split(",")).toList();
    }

    @Test
    void everyIncrementIsThere() throws Exception {
        assertEquals(0, hot(directory, "--threads=1,4", "--virtual=60", "--processes=1,2", "--objects=1",
                "--peers=SAS,SQLITE"));
        List<String> rows = new ArrayList<>();
        for (String[] run : runs()) {
            rows.add(String.join(" ", List.of(run).subList(2, 7)));
            assertTrue(Long.parseLong(run[8]) > 0, String.join(",", run));
            assertEquals("0", run[12], "conflicts in " + String.join(",", run));
        }
        rows.removeIf(row -> row.startsWith("PROBE"));
        assertEquals(List.of("SAS 1 1 1 PLATFORM", "SAS 1 1 4 PLATFORM", "SAS 1 1 60 VIRTUAL", "SAS 1 2 2 PLATFORM",
                "SQLITE 1 1 1 PLATFORM"), rows);
        try (var left = Files.list(directory)) {
            assertEquals(List.of(directory.resolve("hot.csv")), left.toList());
        }
    }

    @Test
    void severalObjectsAreTakenByTheirPopularity() throws Exception {
        HotRow row = HotRow.of(HotKind.SAS, 50, 4);
        row.kind().create(directory, row.objects());
        HotOutcome outcome;
        try (HotPeer peer = row.kind().open(directory)) {
            outcome = HotDrive.run(peer, row, SECOND, SEED);
        }
        HotChildren.check(row.kind(), directory, outcome);
        assertEquals(0, outcome.conflicts());
        Popularity popularity = new Popularity(1000);
        SplittableRandom random = new SplittableRandom(SEED);
        int[] counts = new int[1000];
        for (int i = 0; i < 100_000; i++) {
            counts[popularity.draw(random)]++;
        }
        assertTrue(counts[0] > 12_500 && counts[0] < 14_500, counts[0] + " of 100,000 for the first, seed " + SEED);
        assertEquals(10, counts[0] / (double) counts[9], 1.5, "the tenth has a tenth, seed " + SEED);
    }

    /** A peer that acknowledges what it does not do, or gives up now and then. */
    private static final class Unsound implements HotPeer {
        private static final int EACH = 10;
        private final AtomicLong sum = new AtomicLong();
        private final AtomicLong calls = new AtomicLong();
        private final Runnable omission;

        /** @param omission is done instead of some increments */
        Unsound(Runnable omission) {
            this.omission = omission;
        }

        @Override
        public Client client() {
            return account -> {
                if (calls.incrementAndGet() % EACH == 0) {
                    omission.run();
                } else {
                    sum.incrementAndGet();
                }
                return 2;
            };
        }

        @Override
        public long sum() {
            return sum.get();
        }

        @Override
        public long syncs() {
            return calls.get();
        }

        @Override
        public List<String> findings() {
            return List.of();
        }

        @Override
        public void close() {}
    }

    @Test
    void whatIsMissingIsFound() throws Exception {
        HotPeer losing = new Unsound(() -> {});
        HotOutcome outcome = HotDrive.run(losing, HotRow.of(HotKind.SAS, 1, 2), SECOND, SEED);
        assertThrows(RunFailed.class, () -> outcome.requireSum(losing.sum()));
    }

    @Test
    void conflictsOfCallersAreCounted() throws Exception {
        HotPeer givingUp = new Unsound(() -> {
            throw new TransactionConflict("given up");
        });
        HotOutcome outcome = HotDrive.run(givingUp, HotRow.of(HotKind.SAS, 1, 2), SECOND, SEED);
        outcome.requireSum(givingUp.sum());
        assertTrue(Math.abs(outcome.acknowledged() / 9 - outcome.conflicts()) <= 1, outcome.toString());
        assertEquals(2 * outcome.commits(), outcome.tries());
        HotOutcome sent = HotOutcome.of(Figures.decode(outcome.figures().encode()));
        assertEquals(outcome.figures().encode(), sent.figures().encode());
    }

    @Test
    void waitsAreCountedToASixteenth() {
        SplittableRandom random = new SplittableRandom(SEED);
        Waits waits = new Waits();
        long[] all = new long[20_000];
        for (int i = 0; i < all.length; i++) {
            all[i] = random.nextLong(1L << random.nextInt(1, 40));
            waits.add(all[i]);
        }
        java.util.Arrays.sort(all);
        assertEquals(all[all.length - 1] / 1e6, waits.longestMillis());
        for (double share : new double[] {0.1, 0.5, 0.99, 0.999, 1}) {
            double right = all[(int) Math.ceil(share * all.length) - 1] / 1e6;
            double its = waits.millis(share);
            assertTrue(its >= right && its <= right * 17 / 16 + 1e-6, its + " for " + right + ", seed " + SEED);
        }
    }

    private static HotOutcome outcome(long rate, long longestMillis, long conflicts) {
        Waits waits = new Waits();
        waits.add(TimeUnit.MILLISECONDS.toNanos(longestMillis));
        return new HotOutcome(2, 2 * rate, 2 * rate, conflicts, 2 * rate, 1, 1, waits);
    }

    private static List<String> verdicts(double bar, long one, long many, long processes, long millis, long conflicts) {
        Map<HotRow, List<HotOutcome>> rows = new LinkedHashMap<>();
        rows.put(HotRow.of(HotKind.POSTGRESQL, 1, 48), List.of(outcome(1, 10_000, 5)));
        rows.put(HotRow.of(HotKind.SAS, 1, 1), List.of(outcome(one, 1, 0), outcome(one, 1, 0), outcome(1, 1, 0)));
        rows.put(HotRow.of(HotKind.SAS, 1, 8), List.of(outcome(7, millis, 0)));
        rows.put(HotRow.of(HotKind.SAS, 1, 48), List.of(outcome(many, 1, conflicts), outcome(many, 1, 0)));
        rows.put(new HotRow(HotKind.SAS, 1, 1, 2000, HotDrive.Threads.VIRTUAL), List.of(outcome(3, 1, 0)));
        rows.put(new HotRow(HotKind.SAS, 1, 2, 24, HotDrive.Threads.PLATFORM), List.of(outcome(processes, 1, 0)));
        return HotResults.bars(rows, bar).stream().map(line -> line.split(":")[0].replaceAll("[^a-z]", "")).toList();
    }

    @Test
    void barsAreMetOrMissed() {
        assertEquals(List.of("met", "met", "met", "met"), verdicts(1, 100, 100, 80, 250, 0));
        assertEquals(List.of("missed", "met", "met", "met"), verdicts(1, 100, 99, 80, 250, 0));
        assertEquals(List.of("met", "missed", "met", "met"), verdicts(1, 100, 100, 79, 250, 0));
        assertEquals(List.of("met", "met", "missed", "met"), verdicts(1, 100, 100, 80, 251, 0));
        assertEquals(List.of("met", "met", "met", "missed"), verdicts(1, 100, 100, 80, 250, 1));
        assertEquals(List.of("met", "met", "met", "met"), verdicts(10, 100, 1000, 800, 250, 0));
        assertEquals(List.of("missed", "met", "met", "met"), verdicts(10, 100, 999, 800, 250, 0));
        assertEquals(List.of(), HotResults.bars(Map.of(), 1));
    }

    @Test
    void wrongArgumentsAreSaid() {
        assertEquals(2, hot(directory, "--threads=0"));
        assertEquals(2, hot(directory, "--threads=2", "--processes=3"));
        assertEquals(2, hot(directory.resolve("nowhere")));
    }

    private static boolean hasPostgres() {
        try {
            return PostgresCluster.programs() != null;
        } catch (Exception e) {
            return false;
        }
    }

    /** A directory that another user can reach. */
    private static Path open() throws Exception {
        return Files.createTempDirectory(Path.of("/dev/shm"), "bobc-hot",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }

    @Test
    void postgresIsMeasuredAndGone() throws Exception {
        assumeTrue(hasPostgres(), "tools/ensure-postgresql installs it");
        Path data = open();
        try {
            assertEquals(0, hot(data, "--threads=3", "--virtual=0", "--processes=1", "--objects=1,20",
                    "--peers=POSTGRESQL"));
            for (String[] run : runs()) {
                assertTrue(Long.parseLong(run[8]) > 0 && Long.parseLong(run[10]) > 0, String.join(",", run));
            }
            assertEquals(2, runs().size());
        } finally {
            Files.delete(data);
        }
    }

    /** Neither a signal that can be caught nor one that cannot leaves a server. */
    @Test
    void aServerEndsWithTheCommand() throws Exception {
        assumeTrue(hasPostgres(), "tools/ensure-postgresql installs it");
        Path data = open();
        Process ended = withServer(data);
        ended.destroy();
        awaitNoServer(data, ended);
        Files.delete(data);
        Process killed = withServer(data = open());
        killed.destroyForcibly();
        awaitNoServer(data, killed);
        new ProcessBuilder("rm", "-r", data.toString()).start().waitFor();
    }

    private Process withServer(Path data) throws Exception {
        Process command = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-Dsas.jar=" + System.getProperty("sas.jar"), "-cp",
                System.getProperty("java.class.path"), BobcCommand.class.getName(), "hot", "--on=" + data,
                "--csv=" + directory.resolve("ended.csv"), "--seconds=60", "--threads=2", "--objects=1",
                "--peers=POSTGRESQL").redirectErrorStream(true).redirectOutput(directory.resolve("said").toFile())
                .start();
        long start = System.nanoTime();
        while (!isRunning(data)) {
            assertTrue(command.isAlive() && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(START_SECONDS),
                    () -> "no server: " + said());
            Thread.sleep(20);
        }
        return command;
    }

    private static boolean isRunning(Path data) throws Exception {
        try (var clusters = Files.list(data)) {
            return clusters.anyMatch(cluster -> Files.exists(cluster.resolve("data").resolve("postmaster.pid")));
        }
    }

    private String said() {
        try {
            return Files.readString(directory.resolve("said"));
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }

    private void awaitNoServer(Path data, Process command) throws Exception {
        assertTrue(command.waitFor(END_SECONDS, TimeUnit.SECONDS), "the command does not end");
        long start = System.nanoTime();
        while (servers(data) > 0) {
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(END_SECONDS), "a server is left: " + data);
            Thread.sleep(20);
        }
    }

    /** Servers whose data are below a directory. */
    private static long servers(Path data) {
        return ProcessHandle.allProcesses().filter(process -> process.info().commandLine()
                .filter(line -> line.contains("-D " + data + "/")).isPresent()).count();
    }
}
