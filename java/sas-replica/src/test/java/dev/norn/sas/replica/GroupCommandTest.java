package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.replica.example.Tallies;
import dev.norn.sas.Factory;
import dev.norn.sas.Group;
import dev.norn.sas.Member;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ObjectAccessDenied;
import dev.norn.sas.exception.OutcomeUnknown;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.store.replica.ReplicaStore.Outcome;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Groups as a user has them: {@code sas found}, {@code sas server --group}, {@code sas status}, and Store.open. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GroupCommandTest {
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    @TempDir
    Path directory;
    private final Map<String, Process> servers = new TreeMap<>();
    private final Map<String, String> members = new TreeMap<>();

    private static Process start(String jar, Object... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                .toString(), "-XX:TieredStopAtLevel=1", "--sun-misc-unsafe-memory-access=allow", "-jar",
                System.getProperty(jar)));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String sas(int status, Object... arguments) throws Exception {
        return output(status, start("replica.jar", arguments));
    }

    private static String output(int status, Process process) throws Exception {
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(status, process.waitFor(), output);
        return output;
    }

    private Path store(String name) {
        return directory.resolve(name).resolve("shop");
    }

    private String group() {
        return members.toString().replaceAll("[{} ]", "");
    }

    private void found() throws Exception {
        try (Store store = Store.create(store("a"), Store.Options.defaults().withLogBytes(1 << 20))) {
            store.setRoot("tallies", Factory.newInstanceIn(Tallies.class, store.container(Store.MAIN)));
        }
        sas(0, "found", store("a"), store("b"), store("c"));
        for (String name : List.of("a", "b", "c")) {
            try (ServerSocket socket = new ServerSocket(0)) {
                members.put(name, "127.0.0.1:" + socket.getLocalPort());
            }
        }
    }

    private void serve(String name, Object... options) throws Exception {
        List<Object> arguments = new ArrayList<>(List.of("server", store(name)));
        arguments.addAll(List.of(options));
        Process server = start("replica.jar", arguments.toArray());
        servers.put(name, server);
        String line = server.inputReader().readLine();
        assertNotNull(line, "the server of " + name + " ended");
        assertEquals("process " + server.pid() + " serves " + store(name) + " as the member " + name
                + " of its group until it is interrupted", line);
    }

    /** Returns when each has an entry: Ratis does not count votes of members without. */
    private void serveAll() throws Exception {
        for (String name : members.keySet()) {
            serve(name, "--self", name, "--group", group());
        }
        awaitStatus(store("a"), 0, members.keySet().stream()
                .map(name -> name + " +(leader|follower) +[1-9][0-9]* +[1-9][0-9]* +0 +0  .*").toArray(String[]::new));
    }

    /** The member that leads, once one does. */
    private String leader(Path store) {
        long end = System.nanoTime() + WAIT_NANOS;
        for (;;) {
            var all = Group.status(store, members);
            for (var one : all) {
                if (one.role() == dev.norn.sas.MemberStatus.Role.LEADER) {
                    return one.name();
                }
            }
            assertTrue(System.nanoTime() < end, all.toString());
        }
    }

    /** Waits until the command reports what is expected; returns its output. */
    private String awaitStatus(Path store, int status, String... expected) throws Exception {
        long end = System.nanoTime() + WAIT_NANOS;
        for (;;) {
            Process process = start("replica.jar", "status", store);
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() == status && List.of(expected).stream()
                    .allMatch(line -> output.lines().anyMatch(its -> its.matches(line)))) {
                return output;
            }
            assertTrue(System.nanoTime() < end, output + "\nis not " + String.join(" | ", expected));
        }
    }

    /** Also at a follower. */
    private static Tallies tallies(Store store) {
        return Transaction.<Tallies, RuntimeException>read(() -> store.root("tallies", Tallies.class));
    }

    @AfterEach
    void end() throws Exception {
        for (Process server : servers.values()) {
            server.destroyForcibly().waitFor();
        }
        if (Store.isOpen()) {
            Store.current().close();
        }
    }

    @Test
    void serversKeepAStoreThatProgramsOfTheLeadersMachineChange() throws Exception {
        found();
        serveAll();
        String first = leader(store("a"));
        try (Store store = Store.open(store(first))) {
            Tallies tallies = store.root("tallies", Tallies.class);
            for (int i = 1; i <= 20; i++) {
                assertEquals(i, Transaction.<Long, RuntimeException>call(() -> tallies.count("ann")));
            }
        }
        String output = awaitStatus(store("a"), 0,
                first + " +leader +[1-9][0-9]* +[1-9][0-9]* +20 +0  " + members.get(first));
        assertTrue(output.startsWith("member       role            term    applied     number      lag  address\n"),
                output);
        assertEquals(4, output.lines().count(), output);
        for (String name : members.keySet()) {
            awaitStatus(store("a"), 0, name + " +(leader|follower) +[1-9][0-9]* +[1-9][0-9]* +20 +0  .*");
        }

        servers.get(first).destroyForcibly().waitFor();
        String other = first.equals("a") ? "b" : "a";
        String second = leader(store(other));
        awaitStatus(store(other), 1, first + " +unreachable +- +- +- +-  .*", second + " +leader .*");
        try (Store store = Store.open(store(second))) {
            assertEquals(21, Transaction.<Long, RuntimeException>call(
                    () -> store.root("tallies", Tallies.class).count("bob")));
        }
        String follower = members.keySet().stream().filter(name -> !name.equals(first) && !name.equals(second))
                .findFirst().orElseThrow();
        try (Store store = Store.open(store(follower))) {
            awaitStatus(store(follower), 1, follower + " +follower +[0-9]+ +[0-9]+ +21 +0  .*");
            Tallies tallies = tallies(store);
            assertEquals("21 {ann=20, bob=1}", Transaction.<String, RuntimeException>read(tallies::describe));
            assertThrows(ObjectAccessDenied.class, () -> Transaction.run(() -> tallies.count("eve")));
        }

        serve(first);
        awaitStatus(store(first), 0, first + " +follower +[0-9]+ +[0-9]+ +21 +0  .*");
        assertTrue(sas(1, "server", store(first)).contains("serves " + store(first) + " already"));
    }

    @Test
    void aProgramIsAMemberItself() throws Exception {
        found();
        serve("b", "--self", "b", "--group", group());
        serve("c", "--self", "c", "--group", group());
        for (int opened = 1; opened <= 2; opened++) {
            try (Store store = Store.open(store("a"), new Group("a", members))) {
                Member member = store.member();
                Tallies tallies = tallies(store);
                long before = member.readFresh(tallies::total);
                String leads = leader(store("a"));
                if (leads.equals("a")) {
                    Transaction.run(() -> tallies.count("ann"));
                    assertEquals(before + 1, member.readFresh(tallies::total));
                    assertEquals(Outcome.COMMITTED, member.outcome(member.epoch(), member.number()));
                } else {
                    assertThrows(ObjectAccessDenied.class, () -> Transaction.run(() -> tallies.count("ann")));
                }
                assertTrue(member.isUsable());
            }
        }
    }

    @Test
    void aServerThatLosesItsLeadershipWaitsForProgramsAndFollows() throws Exception {
        found();
        serveAll();
        String first = leader(store("a"));
        new ProcessBuilder("kill", "-STOP", Long.toString(servers.get(first).pid())).start().waitFor();
        String other = first.equals("a") ? "b" : "a";
        long end = System.nanoTime() + WAIT_NANOS;
        while (leader(store(other)).equals(first)) {
            assertTrue(System.nanoTime() < end);
        }
        try (Store store = Store.open(store(first))) {
            Tallies tallies = store.root("tallies", Tallies.class);
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    Thread.sleep(1000);
                    new ProcessBuilder("kill", "-CONT", Long.toString(servers.get(first).pid())).start().waitFor();
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            OutcomeUnknown unknown = assertThrows(OutcomeUnknown.class, () -> Transaction.run(
                    () -> tallies.count("ann")));
            assertEquals(1, unknown.number());
            assertThrows(SASException.class, () -> Transaction.run(() -> tallies.count("ann")));
        }
        awaitStatus(store(first), 0, first + " +follower +[0-9]+ +[0-9]+ +0 +0  .*");
    }

    @Test
    void whatIsMissingIsSaid() throws Exception {
        assertEquals("sas: the store " + store("a") + " is no member of a group: `sas found` makes it the first one\n",
                sas(1, "status", store("a")));
        found();
        assertEquals("sas: the member " + store("a") + " was never opened: name its group with --group\n",
                sas(1, "status", store("a")));
        assertEquals("sas: the member " + store("a") + " was never opened: name it with --self, and its group with "
                + "--group\n", sas(1, "server", store("a")));
        assertEquals("sas: the group " + members + " has no member d\n",
                sas(1, "server", store("a"), "--self", "d", "--group", group()));
        assertEquals("sas: the address of the member a is \"here\", not host:port\n",
                sas(1, "server", store("a"), "--self", "a", "--group", "a=here"));
        assertEquals("sas: the store " + store("a") + " is a member of a group already\n",
                sas(1, "found", store("a"), store("d")));
        assertEquals("sas: nothing carries records between members of a group: norn-sas-replica and Apache Ratis are "
                + "not on the class path\n",
                output(1, start("sas.jar", "server", store("a"), "--self", "a", "--group", group())));
        assertEquals("sas: nothing carries records between members of a group: norn-sas-replica and Apache Ratis are "
                + "not on the class path\n",
                output(1, start("sas.jar", "status", store("a"), "--group", group())));

        serve("a", "--self", "a", "--group", group());
        awaitStatus(store("a"), 1, "a +candidate .*", "b +unreachable .*", "c +unreachable .*");
        servers.get("a").destroyForcibly().waitFor();
        assertEquals("sas: the store " + store("a") + " is the member a of its group, not b\n",
                sas(1, "server", store("a"), "--self", "b"));
        Path log = directory.resolve("a").resolve("shop.raft");
        Files.move(log, directory.resolve("gone"));
        StorageReadFailure lost = assertThrows(StorageReadFailure.class,
                () -> Store.open(store("a"), Group.of(store("a"))));
        assertEquals("the member a has lost its part of the group's log, " + log
                + ", and could vote against what it has acknowledged: it must not be opened again", lost.getMessage());
        Files.move(directory.resolve("gone"), log);
        serve("a");
    }
}
