package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.norn.sas.replica.TestGroup.Child;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Additions to one of 10,000 accounts a transaction, in a group of three and in PostgreSQL with a synchronous standby,
 * in turns, in one run on one disk. Both are warm, both sync each commit on two of the machines that the processes
 * stand for.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BesidePostgresTest {
    /** How long each number of clients is measured; 0: not at all. */
    private static final int SECONDS = Integer.getInteger("replica.seconds", 0);
    private static final int ROUNDS = Integer.getInteger("replica.measured", 3);
    /** Rounds before those: members are twice as fast when the JDK has compiled what they run. */
    private static final int WARMING = Integer.getInteger("replica.warming", 5);
    private static final int ACCOUNTS = 10_000;

    @TempDir
    Path directory;

    @Test
    void measure() throws Exception {
        Assumptions.assumeTrue(SECONDS > 0, "-Dreplica.seconds=10 measures");
        boolean hasPostgres = SyncPostgres.isThere();
        if (!hasPostgres) {
            System.out.println("PostgreSQL is missing: run tools/ensure-postgresql");
        }
        TestGroup its = new TestGroup(directory.resolve("group"), List.of("a", "b", "c"), ACCOUNTS) {
            @Override
            List<String> jvm(String name) {
                return List.of("-Xmx256m");
            }

            @Override
            int logBytes() {
                return 64 << 20;
            }
        };
        try (TestGroup group = its;
                SyncPostgres postgres = hasPostgres ? new SyncPostgres(directory.resolve("postgres"), 1) : null) {
            for (String name : group.members.keySet()) {
                group.start(name, 0);
            }
            for (Child child : group.children.values()) {
                child.await("open");
            }
            if (hasPostgres) {
                postgres.openAccounts(ACCOUNTS);
            }
            System.out.println("clients  members/s   p50 ms   p99 ms  PostgreSQL/s   p50 ms   p99 ms   load   sync ms");
            for (int round = 0; round < WARMING + ROUNDS; round++) {
                for (int clients : new int[] {1, 8, 64}) {
                    String line = "%7d  ".formatted(clients) + bench(group, clients) + (hasPostgres
                            ? columns("%12.0f %8.1f %8.1f", postgres.bench(ACCOUNTS, clients, SECONDS).micros()) : "");
                    String kind = round < WARMING ? "warm-up " : "        ";
                    System.out.println(kind + line + "  " + load() + "  " + sync());
                }
            }
            Child any = group.children.get("a");
            assertEquals(done, Long.parseLong(any.ask("sum")));
        }
    }

    /** Additions that were acknowledged. */
    private long done;

    private String bench(TestGroup group, int clients) throws Exception {
        Child leader = awaitLeader(group);
        String said = leader.ask("bench " + clients + " " + SECONDS);
        long[] micros = Arrays.stream(said.split(",")).mapToLong(Long::parseLong).sorted().toArray();
        done += micros.length;
        return columns("%9.0f %8.1f %8.1f", micros);
    }

    private static Child awaitLeader(TestGroup group) throws Exception {
        for (;;) {
            for (Child child : group.children.values()) {
                if (child.ask("leads").equals("true")) {
                    return child;
                }
            }
            Thread.sleep(100);
        }
    }

    private static String columns(String format, long[] micros) {
        return format.formatted(micros.length / (double) SECONDS, micros[micros.length / 2] / 1e3,
                micros[micros.length * 99 / 100] / 1e3);
    }

    private static String load() throws IOException {
        return Files.readString(Path.of("/proc/loadavg")).split(" ")[0];
    }

    /** How long a sync of 4 KB takes now, the middle of some. */
    private String sync() throws IOException {
        long[] nanos = new long[50];
        try (var file = java.nio.channels.FileChannel.open(directory.resolve("sync"),
                java.nio.file.StandardOpenOption.CREATE, java.nio.file.StandardOpenOption.WRITE)) {
            for (int i = 0; i < nanos.length; i++) {
                file.write(java.nio.ByteBuffer.allocate(4096), i % 16 * 4096L);
                long start = System.nanoTime();
                file.force(false);
                nanos[i] = System.nanoTime() - start;
            }
        }
        Arrays.sort(nanos);
        return "%.1f".formatted(nanos[nanos.length / 2] / 1e6);
    }
}
