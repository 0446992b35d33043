package dev.norn.bobc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.bobc.workload.Scale;
import dev.norn.sas.Store;
import dev.norn.sas.store.inspect.Audit;
import dev.norn.sas.store.inspect.ClassCounts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A short run of each peer, of two processes, and of one that is killed; afterwards TPC-C's consistency conditions
 * hold, and the store's checker finds nothing.
 */
class BobcTest {
    private static final Scale SCALE = Scale.HUNDREDTH;
    private static final int WAREHOUSES = 2;
    private static final long SEED = Long.getLong("bobc.seed", 1997);

    @TempDir
    Path directory;

    private static Drive.Plan plan(int threads, Drive.Screens screens) {
        return new Drive.Plan(SCALE, WAREHOUSES, threads, 0, 1, 0.2, Drive.Pace.NONE, 1, screens,
                Terminal.Mix.SPECIFIED, SEED);
    }

    @ParameterizedTest
    @EnumSource(names = {"TEMPORARY", "SAS", "SQLITE", "LMDB", "H2", "HIBERNATE"})
    void conditionsHoldAfterARun(PeerKind kind) throws Exception {
        try (Peer peer = kind.open(directory, SCALE, null)) {
            peer.populate(SCALE, WAREHOUSES, SEED);
            assertEquals(List.of(), peer.inconsistencies());
            boolean hasScreens = kind.needsAgent();
            long orders = peer.orders();
            Drive.Outcome outcome = Drive.run(peer, plan(3, hasScreens ? Drive.Screens.BUILD : Drive.Screens.NONE));
            assertTrue(outcome.newOrders() > 0 && outcome.committed()[1] > 0,
                    kind + " did nothing: replay with -Dbobc.seed=" + SEED);
            assertEquals(List.of(), peer.inconsistencies(), "replay with -Dbobc.seed=" + SEED);
            assertEquals(orders + outcome.entered(), peer.orders(), "replay with -Dbobc.seed=" + SEED);
        }
    }

    @Test
    void theStoreHoldsWhatTheSpecificationAsksFor() {
        try (SasPeer peer = (SasPeer) PeerKind.SAS.open(directory, SCALE, null)) {
            peer.populate(SCALE, WAREHOUSES, SEED);
            Map<String, ClassCounts.Share> shares = ClassCounts.of(peer.store().attached(), Store.MAIN);
            Map<String, Integer> expected = Map.of("Company", 1, "Item", 1000, "Warehouse", 2, "District", 20,
                    "Stock", 2000, "Customer", 600, "History", 600, "Order", 600, "NewOrder", 180, "Address", 622);
            expected.forEach((name, count) -> assertEquals(count.longValue(),
                    shares.get("dev.norn.bobc.model." + name).count(), name));
            Audit audit = new Audit(peer.store().attached());
            assertEquals(List.of(), audit.run());
            long counted = peer.store().containers().stream()
                    .flatMap(name -> ClassCounts.of(peer.store().attached(), name).values().stream())
                    .mapToLong(ClassCounts.Share::count).sum();
            assertEquals(audit.objects() + audit.values(), counted);
        }
    }

    private static List<String> part(PeerKind kind, Path at, int process) {
        List<String> arguments =
                new ArrayList<>(List.of("part", kind.toString(), at.toString(), Integer.toString(process)));
        arguments.addAll(List.of("--warehouses=" + WAREHOUSES, "--threads=3", "--seconds=60",
                "--warm-up=0", "--seed=" + SEED));
        return arguments;
    }

    /** Lets another JVM run and kills it. */
    private void runAndKill(PeerKind kind, int process, int millis) throws Exception {
        try (Jvm child = new Jvm(kind, "256m", List.of("-XX:TieredStopAtLevel=1"),
                part(kind, directory, process), List.of())) {
            child.awaitReady();
            child.goOn();
            Thread.sleep(millis);
            ProcessHandle.of(child.pid()).orElseThrow().destroyForcibly();
            RunFailed failed = assertThrows(RunFailed.class, () -> child.figures(line -> {}));
            assertTrue(failed.getMessage().contains("was killed (status 137)"), failed.getMessage());
        }
    }

    @Test
    void conditionsHoldAfterAKill() throws Exception {
        try (Peer peer = PeerKind.SAS.open(directory, SCALE, null)) {
            peer.populate(SCALE, WAREHOUSES, SEED);
        }
        for (int round = 0; round < 2; round++) {
            long before = ordersAndCheck("before round " + round);
            runAndKill(PeerKind.SAS, round, 900);
            if (round == 1) {
                // As if the machine had stopped: containers and log only.
                Files.delete(directory.resolve("store").resolve("pool"));
            }
            long after = ordersAndCheck("after round " + round);
            assertTrue(after > before, "no order in round " + round + ": replay with -Dbobc.seed=" + SEED);
        }
    }

    private void child(PeerKind kind, String command) throws Exception {
        try (Jvm jvm = new Jvm(kind, "256m", List.of("-XX:TieredStopAtLevel=1"), List.of(command, kind.toString(),
                directory.toString(), "--warehouses=" + WAREHOUSES, "--seed=" + SEED), List.of())) {
            jvm.figures(line -> {});
        }
    }

    /** What these peers are said to survive. */
    @ParameterizedTest
    @EnumSource(names = {"LMDB", "ECLIPSESTORE"})
    void peersSurviveAKill(PeerKind kind) throws Exception {
        child(kind, "populate");
        runAndKill(kind, 0, 700);
        child(kind, "check");
    }

    private long ordersAndCheck(String when) {
        try (SasPeer peer = (SasPeer) PeerKind.SAS.open(directory, SCALE, null)) {
            assertEquals(List.of(), peer.inconsistencies(), when + ": replay with -Dbobc.seed=" + SEED);
            return peer.orders();
        }
    }

    @Test
    void processesShareTheStore() {
        assertEquals(0, BobcCommand.run("run", "SAS", "--directory=" + directory, "--processes=2", "--threads=2",
                "--warehouses=2", "--seconds=1", "--warm-up=0.5"));
        assertEquals(2, BobcCommand.run("run", "H2", "--directory=" + directory, "--processes=2"));
    }

    /** Each peer has what was added, or its JVM fails. */
    @Test
    void peersAreLoaded() throws Exception {
        Path csv = directory.resolve("load.csv");
        assertEquals(0, BobcCommand.run("load", "--objects=250", "--batch=100", "--on=" + directory,
                "--rounds=1", "--csv=" + csv));
        List<String> lines = java.nio.file.Files.readAllLines(csv);
        assertEquals(1 + LoadKind.values().length, lines.size());
        assertTrue(lines.getFirst().startsWith("directory,round,peer,objects,batch,seconds,"), lines.getFirst());
        assertEquals(2, BobcCommand.run("load", "--objects=0", "--on=" + directory));
    }

    /** EclipseStore's conditions are those of what it has stored, read again. */
    @Test
    void peersWithoutTheAgentAreCompared() {
        assertEquals(0, BobcCommand.run("compare", "PLAIN", "ECLIPSESTORE", "--directory=" + directory,
                "--warehouses=2", "--threads=2", "--seconds=1", "--warm-up=0.5", "--rounds=1"));
    }

    @Test
    void whatACommitSurvivesDependsOnTheFileSystem() throws Exception {
        Setup setup = Setup.of(List.of("--directory=/dev/shm"));
        assertTrue(setup.isInMemory() && setup.survives(PeerKind.SAS)
                .startsWith("what the file system of /dev/shm does"), setup.survives(PeerKind.SAS));
        assertEquals(PeerKind.H2.durability.survives, setup.survives(PeerKind.H2));
        assertEquals("a stop of the machine", Setup.of(List.of("--directory=/proc")).survives(PeerKind.SAS));
    }

    private record Ended(int status, String errors) {}

    private Process start(Path errors, String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dsas.jar=" + System.getProperty("sas.jar"), "-cp", System.getProperty("java.class.path"),
                BobcCommand.class.getName()));
        all.addAll(List.of(arguments));
        return new ProcessBuilder(all).redirectError(errors.toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    }

    private Ended command(String... arguments) throws Exception {
        Path errors = directory.resolve("errors");
        return new Ended(start(errors, arguments).waitFor(), Files.readString(errors));
    }

    @Test
    void whatIsInterruptedLeavesNothing() throws Exception {
        Path data = Files.createDirectory(directory.resolve("data"));
        Process process = start(directory.resolve("errors"), "run", "SQLITE", "--seconds=60", "--directory=" + data);
        while (process.isAlive() && files(data) < 2) {
            Thread.sleep(20);
        }
        List<ProcessHandle> children = process.children().toList();
        process.destroy();
        assertEquals(143, process.waitFor(), Files.readString(directory.resolve("errors")));
        assertEquals(List.of(), children.stream().filter(ProcessHandle::isAlive).toList());
        assertEquals(1, files(data), "the directory itself");
    }

    private static long files(Path directory) throws Exception {
        try (var files = Files.walk(directory)) {
            return files.count();
        } catch (java.io.UncheckedIOException e) {
            return 0;
        }
    }

    @Test
    void aFullHeapIsSaid() throws Exception {
        Ended ended = command("run", "PLAIN", "--heap=64m", "--seconds=60", "--directory=" + directory);
        assertEquals(1, ended.status, ended.errors);
        assertTrue(ended.errors.contains("the heap of 64 MB is full") && ended.errors.contains("--heap"), ended.errors);
    }

    @Test
    void wrongArgumentsAreSaid() throws Exception {
        Ended ended = command("run", "SAS", "--threads=41", "--directory=" + directory);
        assertEquals(2, ended.status, ended.errors);
        assertTrue(ended.errors.contains("41 terminals"), ended.errors);
        ended = command("run", "SAS", "--directory=" + directory.resolve("nowhere"));
        assertEquals(2, ended.status, ended.errors);
        assertEquals("bobc: --directory " + directory.resolve("nowhere") + " is not there\n", ended.errors);
        ended = command("run", "ORACLE");
        assertEquals(2, ended.status, ended.errors);
        assertTrue(ended.errors.contains("ORACLE") && ended.errors.contains("SQLITE")
                && ended.errors.lines().count() == 2, ended.errors);
    }

    @Test
    void withoutArgumentsItSaysWhatThereIs() {
        assertEquals(0, BobcCommand.run());
        assertEquals(0, BobcCommand.run("help"));
    }

    /** Statements that break a condition, each after its number. */
    private static final String[] DAMAGES = {
        "1:update warehouse set w_ytd = w_ytd + 1",
        "2:update district set d_next_o_id = d_next_o_id + 1",
        "3:delete from new_order where no_o_id = 25",
        "4:update orders set o_ol_cnt = o_ol_cnt + 1",
        "5:update orders set o_carrier_id = null",
        "6:update orders set o_ol_cnt = o_ol_cnt + 1",
        "7:update order_line set ol_delivery_d = null where ol_number = 1",
        "8:update history set h_amount = h_amount + 1",
        "9:update history set h_amount = h_amount + 1",
        "10:update customer set c_ytd_payment = c_ytd_payment + 1",
        "12:update customer set c_balance = c_balance + 1"};

    @Test
    void eachConditionInSqlCanFail() throws Exception {
        try (Peer peer = PeerKind.SQLITE.open(directory, SCALE, null)) {
            peer.populate(SCALE, 1, SEED);
            try (Connection connection = DriverManager.getConnection(SqlDialect.SQLITE.url(directory));
                    Statement statement = connection.createStatement()) {
                for (String damage : DAMAGES) {
                    String[] words = damage.split(":");
                    statement.execute(words[1]);
                    assertTrue(peer.inconsistencies().stream()
                            .anyMatch(finding -> finding.startsWith("condition " + words[0] + " ")), damage);
                }
            }
        }
    }
}
