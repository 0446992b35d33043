package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Group;
import dev.norn.sas.Store;
import dev.norn.replica.example.MemberProgram;
import dev.norn.replica.example.Tallies;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three processes on this machine, with clients that count at whoever leads. The leader is killed, or stopped for
 * longer than an election takes, again and again. Every count that was acknowledged has to be there, once, and of
 * others at most the one that a client had under way.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MemberTest {
    private static final int ROUNDS = Integer.getInteger("replica.rounds", 3);
    private static final int CLIENTS = 4;
    /** How long each number of clients is measured; 0: not at all. */
    private static final int MEASURED_SECONDS = Integer.getInteger("replica.seconds", 0);
    private static final long FAILOVER_SECONDS_MAX = 60;
    /** The goal is 3 s; on a machine with other work, a process may wait longer for its turn. */
    private static final long FAILOVER_MILLIS_MAX = 10_000;

    @TempDir
    Path directory;
    private final Map<String, Child> children = new TreeMap<>();
    private final Map<String, String> peers = new TreeMap<>();
    /** The highest count of each client that was acknowledged. */
    private final Map<String, Long> acknowledged = new ConcurrentHashMap<>();
    private final Set<Long> totals = ConcurrentHashMap.newKeySet();
    private final List<String> wrong = new CopyOnWriteArrayList<>();
    /** Client, count, epoch, number. */
    private final List<String[]> unknown = new CopyOnWriteArrayList<>();
    /** How long counts took, in nanoseconds. */
    private final List<Long> latencies = Collections.synchronizedList(new ArrayList<>());
    private final AtomicReference<String> leader = new AtomicReference<>("");

    /** A member's process. */
    private final class Child {
        final String name;
        final Process process;
        final LinkedBlockingQueue<String> answers = new LinkedBlockingQueue<>();

        Child(String name, int clients) throws IOException {
            this.name = name;
            List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx256m", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow",
                    "-javaagent:" + System.getProperty("sas.jar") + "=packages=dev.norn.replica.example",
                    "-cp", System.getProperty("java.class.path"), MemberProgram.class.getName(),
                    directory.resolve(name).toString(), name,
                    peers.toString().replaceAll("[{} ]", ""), Integer.toString(clients));
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.appendTo(directory.resolve(name + ".err").toFile()))
                    .start();
            Thread.ofPlatform().daemon().start(this::read);
        }

        private void read() {
            try (BufferedReader lines = process.inputReader()) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    take(line.split(" "), line);
                }
            } catch (IOException e) {
                // It was killed.
            }
        }

        private void take(String[] words, String line) {
            switch (words[0]) {
                case "ack" -> {
                    Long before = acknowledged.put(words[1], Long.parseLong(words[2]));
                    if (Long.parseLong(words[2]) != (before == null ? 0 : before) + 1) {
                        wrong.add(line + " after " + before);
                    }
                    if (!totals.add(Long.parseLong(words[3]))) {
                        wrong.add(line + ": this total was acknowledged before");
                    }
                    leader.set(name);
                    latencies.add(Long.parseLong(words[4]));
                }
                case "unknown" -> unknown.add(new String[] {words[1], words[2], words[3], words[4]});
                default -> answers.add(line);
            }
        }

        String ask(String question) throws Exception {
            process.outputWriter().write(question + "\n");
            process.outputWriter().flush();
            return await(question.split(" ")[0]);
        }

        /** The rest of the next line that begins so. */
        String await(String first) throws Exception {
            String prefix = first.equals("describe") ? "state " : first.equals("stop") ? "stopped" : first;
            for (;;) {
                String line = answers.poll(FAILOVER_SECONDS_MAX, TimeUnit.SECONDS);
                assertNotNull(line, name + " does not say " + prefix + "\n" + errors());
                if (line.startsWith(prefix)) {
                    return line.substring(prefix.length()).strip();
                }
                assertTrue(!line.startsWith("failed"), line);
            }
        }

        void signal(String signal) throws Exception {
            new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
        }
    }

    private String errors() throws IOException {
        StringBuilder all = new StringBuilder();
        for (String name : peers.keySet()) {
            Path file = directory.resolve(name + ".err");
            List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
            all.append(name).append(":\n").append(String.join("\n",
                    lines.subList(Math.max(0, lines.size() - 30), lines.size()))).append('\n');
        }
        return all.toString();
    }

    @AfterEach
    void end() throws Exception {
        for (Child child : children.values()) {
            child.process.destroyForcibly().waitFor();
        }
    }

    private void found() throws IOException {
        Path seed = directory.resolve("seed");
        try (Store store = Store.create(seed, Store.Options.defaults().withLogBytes(1 << 20))) {
            store.setRoot("tallies", Factory.newInstanceIn(Tallies.class, store.container(Store.MAIN)));
        }
        List<String> names = List.of("a", "b", "c");
        Group.found(seed, names.stream().map(name -> directory.resolve(name).resolve("store")).toList());
        for (String name : names) {
            try (ServerSocket socket = new ServerSocket(0)) {
                peers.put(name, "127.0.0.1:" + socket.getLocalPort());
            }
        }
    }

    private void start(String name) throws IOException {
        children.put(name, new Child(name, CLIENTS));
    }

    /** Waits until a count is acknowledged that another than this member has led; returns who has. */
    private String awaitOther(String than) throws Exception {
        leader.set("");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(FAILOVER_SECONDS_MAX);
        while (leader.get().isEmpty() || leader.get().equals(than)) {
            assertTrue(System.nanoTime() < end, "no count is acknowledged\n" + errors());
            Thread.sleep(1);
        }
        return leader.get();
    }

    @Test
    void noAcknowledgedCountIsLostAndNoneIsInvented() throws Exception {
        found();
        for (String name : peers.keySet()) {
            start(name);
        }
        String leads = awaitOther("");
        List<Long> failoverMillis = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            Thread.sleep(1500);
            boolean isKill = round % 3 != 1;
            long start = System.nanoTime();
            String before = leads;
            if (isKill) {
                children.get(before).process.destroyForcibly().waitFor();
            } else {
                children.get(before).signal("STOP");
            }
            leads = awaitOther(before);
            failoverMillis.add((System.nanoTime() - start) / 1_000_000);
            assertTrue(failoverMillis.getLast() <= FAILOVER_MILLIS_MAX, failoverMillis + " ms\n" + errors());
            Thread.sleep(500);
            if (isKill) {
                start(before);
            } else {
                children.get(before).signal("CONT");
            }
            // While it starts, the other two are no majority without each other.
            children.get(before).await("open");
        }
        check();
        System.out.println(acknowledged.values().stream().mapToLong(Long::longValue).sum() + " counts acknowledged, "
                + unknown.size() + " unknown; another one led after " + failoverMillis + " ms");
    }

    /** Prints counts a second of different numbers of clients, which all change one object, and how long they take. */
    @Test
    void measure() throws Exception {
        Assumptions.assumeTrue(MEASURED_SECONDS > 0, "-Dreplica.seconds=10 measures");
        found();
        for (int clients : new int[] {1, 8, 40}) {
            for (String name : peers.keySet()) {
                children.put(name, new Child(name, clients));
            }
            awaitOther("");
            Thread.sleep(8000);
            latencies.clear();
            Thread.sleep(MEASURED_SECONDS * 1000L);
            Long[] all = latencies.toArray(Long[]::new);
            java.util.Arrays.sort(all);
            System.out.printf("%d clients: %.0f counts a second, half of them in %.1f ms, 99%% in %.1f ms%n", clients,
                    all.length / (double) MEASURED_SECONDS, all[all.length / 2] / 1e6,
                    all[all.length * 99 / 100] / 1e6);
            end();
        }
    }

    private void check() throws Exception {
        for (Child child : children.values()) {
            child.ask("stop");
        }
        Thread.sleep(500);
        String state = children.get("a").ask("fresh");
        Thread.sleep(500);
        long number = 0;
        for (Child child : children.values()) {
            number = Math.max(number, Long.parseLong(child.ask("number")));
        }
        for (Child child : children.values()) {
            assertEquals(state, child.ask("describe " + number), child.name);
        }
        assertEquals(List.of(), wrong);
        Map<String, Long> counts = new LinkedHashMap<>();
        for (String entry : state.substring(state.indexOf('{') + 1, state.length() - 1).split(", ")) {
            counts.put(entry.split("=")[0], Long.parseLong(entry.split("=")[1]));
        }
        long sum = counts.values().stream().mapToLong(Long::longValue).sum();
        assertEquals(sum, Long.parseLong(state.split(" ")[0]), "the total");
        Set<String> clients = new HashSet<>(counts.keySet());
        clients.addAll(acknowledged.keySet());
        for (String client : clients) {
            long acks = acknowledged.getOrDefault(client, 0L);
            long has = counts.getOrDefault(client, 0L);
            assertTrue(has == acks || has == acks + 1, client + " has " + has + ", and " + acks + " were acknowledged");
        }
        for (String[] one : unknown) {
            boolean isThere = counts.getOrDefault(one[0], 0L) == Long.parseLong(one[1]);
            for (Child child : children.values()) {
                assertEquals(isThere ? "COMMITTED" : "UNDONE", child.ask("outcome " + one[2] + " " + one[3]),
                        String.join(" ", one));
            }
        }
    }
}
