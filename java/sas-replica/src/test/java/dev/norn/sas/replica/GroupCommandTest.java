package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.replica.example.Tallies;
import dev.norn.sas.Factory;
import dev.norn.sas.Group;
import dev.norn.sas.Member;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.command.SasCommand;
import dev.norn.sas.exception.NotLeader;
import dev.norn.sas.exception.Outcome;
import dev.norn.sas.exception.OutcomeUnknown;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Groups as a user has them: {@code sas found}, {@code sas server --group}, {@code sas status}, and Store.open. All
 * tests but one use the same group, since starting servers costs more than all else.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GroupCommandTest {
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(120);
    /** Asking costs connections to all members. */
    private static final long POLL_MILLIS = 100;
    /** What each line of a server begins with. */
    private static final String TIME = "2026-11-28T09:05:58Z ";
    /** One that is stopped does not answer. */
    private static final Duration ANSWER_WAIT = Duration.ofSeconds(2);

    @TempDir
    static Path directory;
    private static final Map<String, Process> SERVERS = new TreeMap<>();
    private static final Map<String, String> MEMBERS = new TreeMap<>();
    private Map<String, Process> servers = SERVERS;
    private Map<String, String> members = MEMBERS;
    private Path place = directory.resolve("shared");

    private static ProcessBuilder builder(String jar, Object... arguments) {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                .toString(), "-XX:TieredStopAtLevel=1", "--sun-misc-unsafe-memory-access=allow", "-jar",
                System.getProperty(jar)));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return new ProcessBuilder(command).redirectErrorStream(true);
    }

    /** What the command says that has no transport on its class path, and ends with 1. */
    private static String sasAlone(Object... arguments) throws Exception {
        Process process = builder("sas.jar", arguments).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(1, process.waitFor(), output);
        return output;
    }

    /** What the command says, which runs in this JVM: starting one costs more than all that it does. */
    private static String sas(int status, Object... arguments) {
        StringBuilder output = new StringBuilder();
        assertEquals(status, run(output, arguments), () -> output.toString());
        return output.toString();
    }

    private static int run(StringBuilder output, Object... arguments) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        var bytes = new ByteArrayOutputStream();
        PrintStream both = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        System.setOut(both);
        System.setErr(both);
        try {
            return SasCommand.run(Stream.of(arguments).map(Object::toString).toArray(String[]::new));
        } finally {
            System.setOut(out);
            System.setErr(err);
            output.append(bytes.toString(StandardCharsets.UTF_8));
        }
    }

    private Path store(String name) {
        return place.resolve(name).resolve("shop");
    }

    private String group() {
        return members.toString().replaceAll("[{} ]", "");
    }

    private void found() throws Exception {
        try (Store store = Store.create(store("a"), Store.Options.defaults().withLogBytes(1 << 20))) {
            store.setRoot("tallies", Factory.newInstanceIn(Tallies.class, store.container(Store.MAIN)));
        }
        assertEquals(store("a") + " is the store of the first member of a new group\n"
                + store("b") + " is the store of another one, for its machine\n"
                + store("c") + " is the store of another one, for its machine\n"
                + "next, on each machine: sas server DIRECTORY --self NAME --group NAME=HOST:PORT,..., with all "
                + "members in --group\n", sas(0, "found", store("a"), store("b"), store("c")));
        for (String name : List.of("a", "b", "c")) {
            try (ServerSocket socket = new ServerSocket(0)) {
                members.put(name, "127.0.0.1:" + socket.getLocalPort());
            }
        }
    }

    private void serve(String name, Object... options) throws Exception {
        List<Object> arguments = new ArrayList<>(List.of("server", store(name)));
        arguments.addAll(List.of(options));
        // A file: a server whose pipe nobody reads would wait, once that is full.
        Process server = builder("replica.jar", arguments.toArray()).redirectOutput(said(name).toFile()).start();
        servers.put(name, server);
        String line = "process " + server.pid() + " serves " + store(name) + " as the member " + name
                + " of its group until it is interrupted\n";
        long end = System.nanoTime() + WAIT_NANOS;
        while (Files.size(said(name)) < TIME.length() + line.length() && server.isAlive() && System.nanoTime() < end) {
            Thread.sleep(10);
        }
        String output = Files.readString(said(name));
        assertTrue(output.startsWith(line, TIME.length()), output);
        assertDoesNotThrow(() -> Instant.parse(output.substring(0, TIME.length() - 1)), output);
    }

    /** What the server of a member that was started last has said. */
    private Path said(String name) {
        return place.resolve(name + ".out");
    }

    /** Waits until the server of a removed member has ended, and holds against what it should say last. */
    private void awaitRefusal(String name, String refused) throws Exception {
        Process server = servers.get(name);
        assertTrue(server.waitFor(WAIT_NANOS, TimeUnit.NANOSECONDS), Files.readString(said(name)));
        assertEquals(1, server.exitValue());
        assertTrue(Files.readString(said(name)).endsWith(refused + "\n"), Files.readString(said(name)));
    }

    /** Has all servers run; returns when each has an entry: Ratis does not count votes of members without. */
    private void serveAll() throws Exception {
        if (members.isEmpty()) {
            found();
        }
        for (String name : members.keySet()) {
            if (!servers.containsKey(name)) {
                serve(name, "--self", name, "--group", group());
            } else if (!servers.get(name).isAlive()) {
                serve(name);
            }
        }
        awaitStatus(store("a"), 0, members.keySet().stream()
                .map(name -> name + " +(leader|follower) +[1-9][0-9]* +[1-9][0-9]* +[0-9]+ +0  .*")
                .toArray(String[]::new));
    }

    private int port(String name) {
        return Integer.parseInt(members.get(name).replaceAll(".*:", ""));
    }

    private String otherThan(String... names) {
        return members.keySet().stream().filter(name -> !List.of(names).contains(name)).findFirst().orElseThrow();
    }

    /** The number of the last record that a member has. */
    private long number(String name) throws InterruptedException {
        long end = System.nanoTime() + WAIT_NANOS;
        for (;;) {
            for (var one : Group.status(store(name), members, ANSWER_WAIT)) {
                if (one.name().equals(name) && one.number() >= 0) {
                    return one.number();
                }
            }
            assertTrue(System.nanoTime() < end, name + " does not answer");
            Thread.sleep(POLL_MILLIS);
        }
    }

    /** The member that leads, once one does. */
    private String leader(Path store) throws InterruptedException {
        long end = System.nanoTime() + WAIT_NANOS;
        for (;;) {
            var all = Group.status(store, members, ANSWER_WAIT);
            for (var one : all) {
                if (one.role() == dev.norn.sas.MemberStatus.Role.LEADER) {
                    return one.name();
                }
            }
            assertTrue(System.nanoTime() < end, all.toString());
            Thread.sleep(POLL_MILLIS);
        }
    }

    /** Waits until the command reports what is expected; returns its output. */
    private String awaitStatus(Path store, int status, String... expected) throws Exception {
        long end = System.nanoTime() + WAIT_NANOS;
        for (;;) {
            StringBuilder output = new StringBuilder();
            if (run(output, "status", store, "--wait", 5) == status && List.of(expected).stream()
                    .allMatch(line -> output.toString().lines().anyMatch(its -> its.matches(line)))) {
                return output.toString();
            }
            assertTrue(System.nanoTime() < end, output + "\nis not " + String.join(" | ", expected));
            Thread.sleep(POLL_MILLIS);
        }
    }

    /** Also at a follower. */
    private static Tallies tallies(Store store) {
        return Transaction.<Tallies, RuntimeException>read(() -> store.root("tallies", Tallies.class));
    }

    @AfterEach
    void closeStore() {
        if (Store.isOpen()) {
            Store.current().close();
        }
    }

    @AfterAll
    static void end() throws Exception {
        end(SERVERS);
    }

    private static void end(Map<String, Process> all) throws Exception {
        for (Process server : all.values()) {
            server.destroyForcibly().waitFor();
        }
    }

    @Test
    void serversKeepAStoreThatProgramsOfTheLeadersMachineChange() throws Exception {
        serveAll();
        String first = leader(store("a"));
        long before = number(first);
        long total;
        try (Store store = Store.open(store(first))) {
            Tallies tallies = store.root("tallies", Tallies.class);
            total = Transaction.<Long, RuntimeException>read(tallies::total);
            for (int i = 1; i <= 20; i++) {
                assertEquals(total + i, Transaction.<Long, RuntimeException>call(() -> tallies.count("kim")));
            }
        }
        String counted = " +" + (before + 20) + " +0  ";
        awaitStatus(store("a"), 0, first + " +.* +[1-9][0-9]* +[1-9][0-9]*" + counted + members.get(first));
        String output = sas(0, "status", store("a"));
        assertTrue(output.startsWith("member       role            term    applied     number      lag  address\n"),
                output);
        assertEquals(1 + members.size(), output.lines().count(), output);
        for (String name : members.keySet()) {
            awaitStatus(store("a"), 0, name + " +(leader|follower) +[1-9][0-9]* +[1-9][0-9]*" + counted + ".*");
        }

        servers.get(first).destroyForcibly().waitFor();
        String other = otherThan(first);
        String second = leader(store(other));
        awaitStatus(store(other), 1, first + " +unreachable +- +- +- +-  .*", second + " +leader .*");
        try (Store store = Store.open(store(second))) {
            assertEquals(total + 21, Transaction.<Long, RuntimeException>call(
                    () -> store.root("tallies", Tallies.class).count("lee")));
        }
        counted = " +" + (before + 21) + " +0  ";
        String follower = otherThan(first, second);
        try (Store store = Store.open(store(follower))) {
            awaitStatus(store(follower), 1, follower + " +follower +[0-9]+ +[0-9]+" + counted + ".*");
            assertFalse(store.isLeading());
            Tallies tallies = store.root("tallies", Tallies.class);
            String state = Transaction.<String, RuntimeException>read(tallies::describe);
            assertTrue(state.matches(total + 21 + " \\{.*kim=20, lee=1.*\\}"), state);
            assertThrows(NotLeader.class, () -> Transaction.run(() -> tallies.count("eve")));
        }

        serve(first);
        awaitStatus(store(first), 0, first + " +follower +[0-9]+ +[0-9]+" + counted + ".*");
        assertTrue(sas(1, "server", store(first)).contains("serves " + store(first) + " already"));
    }

    /** Its records went through the ring of the store to the process that has died. */
    @Test
    void aProgramOfTheLeadersMachineSeesThatItsServerHasDied() throws Exception {
        serveAll();
        String first = leader(store("a"));
        OutcomeUnknown unknown;
        long before = number(first);
        long counts = 0;
        long total;
        try (Store store = Store.open(store(first))) {
            assertTrue(store.awaitLeading(Duration.ofSeconds(10)));
            Tallies tallies = store.root("tallies", Tallies.class);
            total = Transaction.<Long, RuntimeException>read(tallies::total);
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    Thread.sleep(1000);
                    servers.get(first).destroyForcibly().waitFor();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            for (;;) {
                try {
                    total = Transaction.<Long, RuntimeException>call(() -> tallies.count("ann"));
                    counts++;
                } catch (OutcomeUnknown e) {
                    unknown = e;
                    break;
                }
            }
            // Nothing more is committed here, and what was not acknowledged is not given out.
            assertTrue(assertThrows(NotLeader.class, () -> Transaction.run(() -> tallies.count("ann"))).mustReopen());
            assertThrows(NotLeader.class, () -> Transaction.read(tallies::total));
            assertThrows(NotLeader.class, () -> store.awaitLeading(Duration.ofSeconds(10)));
        }
        assertEquals(before + counts + 1, unknown.number());
        Outcome outcome = awaitOutcome(store(first), unknown);
        String second = leader(store(otherThan(first)));
        // The server comes back once the program has closed the store, and both know what became of the last count.
        serve(first);
        awaitStatus(store(first), 0, first + " +follower .*", second + " +leader .*");
        long counted;
        try (Store store = Store.open(store(second))) {
            counted = Transaction.<Long, RuntimeException>read(() -> tallies(store).total());
        }
        assertEquals(outcome == Outcome.COMMITTED ? total + 1 : total, counted);
        assertEquals(Outcome.COMMITTED, Group.outcome(store(first), unknown.epoch(), unknown.number() - 1));
        assertEquals("committed\n", sas(0, "outcome", store(first), unknown.epoch(), unknown.number() - 1));
        assertEquals("not-yet\n", sas(1, "outcome", store(first), unknown.epoch() + 1000, 1));
    }

    /** As a program finds out that is no member itself. */
    private static Outcome awaitOutcome(Path store, OutcomeUnknown of) throws Exception {
        long start = System.nanoTime();
        for (;;) {
            Outcome its = Group.outcome(store, of.epoch(), of.number());
            if (its != Outcome.NOT_YET) {
                return its;
            }
            assertTrue(System.nanoTime() - start < WAIT_NANOS, "nobody knows what became of it");
            Thread.sleep(POLL_MILLIS);
        }
    }

    @Test
    void membersAreAddedAndRemovedWhileTheGroupRuns() throws Exception {
        serveAll();
        String leads = leader(store("a"));
        long total;
        try (Store store = Store.open(store(leads))) {
            total = Transaction.<Long, RuntimeException>call(() -> store.root("tallies", Tallies.class).count("bob"));
        }
        try (ServerSocket socket = new ServerSocket(0)) {
            members.put("d", "127.0.0.1:" + socket.getLocalPort());
        }
        String joined = sas(0, "join", store("d"), "--self", "d", "--group", group());
        assertTrue(joined.endsWith("d has a copy of the store and counts. Open it now: sas server " + store("d")
                + "\n"), joined);
        assertEquals("sas: " + store("d") + " has files of a store already: a new member needs a new directory\n",
                sas(1, "join", store("d"), "--self", "d", "--group", group()));
        serve("d");
        // Asked by who was there before, which has written down who came.
        awaitStatus(store("a"), 0, "d +follower +[1-9][0-9]* +[1-9][0-9]* +" + number(leads) + " +0  .*");

        String gone = leads.equals("c") ? "b" : "c";
        Path file = store(gone).resolve("replica");
        String counted = Files.readString(file);
        String removed = sas(0, "remove", store(leads), gone);
        assertTrue(removed.endsWith("the group goes on without " + gone + "\n"), removed);
        members.remove(gone);
        assertStatusWaitsForMembersOnly(store(leads));
        assertTrue(awaitStatus(store("d"), 0, ". +leader .*").lines().noneMatch(line -> line.startsWith(gone)));
        String refused = "sas: the member " + gone + " of the store " + store(gone)
                + " was removed from its group, and is not opened any more";
        awaitRefusal(gone, refused);
        assertEquals(refused + "\n", sas(1, "server", store(gone)));
        // As if it had been killed before it wrote that down: its log says so, and it asks for no votes.
        Files.writeString(file, counted);
        serve(gone);
        awaitRefusal(gone, refused);
        assertTrue(sas(1, "remove", store(leads), gone).endsWith(" has no member " + gone + "\n"));
        String twice = sas(1, "join", directory.resolve("new"), "--self", "d", "--group", group());
        assertTrue(twice.endsWith("sas: the group has a member d already\n"), twice);
        assertTrue(Files.notExists(directory.resolve("new")));

        // The new one is as good as any: it and one of the others are a majority of three.
        servers.get(leads).destroyForcibly().waitFor();
        String second = leader(store("d"));
        try (Store store = Store.open(store(second))) {
            assertEquals(total + 1, Transaction.<Long, RuntimeException>call(
                    () -> store.root("tallies", Tallies.class).count("bob")));
        }
    }

    /** Asks one more, which the leader does not count, and which does not answer. */
    private void assertStatusWaitsForMembersOnly(Path store) throws IOException {
        Map<String, String> more = new TreeMap<>(members);
        try (ServerSocket silent = new ServerSocket(0)) {
            more.put("silent", "127.0.0.1:" + silent.getLocalPort());
            long start = System.nanoTime();
            var all = Group.status(store, more, Duration.ofSeconds(60));
            assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(30), "it waited for the silent one");
            assertEquals(members.keySet(), all.stream().map(dev.norn.sas.MemberStatus::name)
                    .collect(Collectors.toCollection(TreeSet::new)));
        }
    }

    @Test
    void aProgramIsAMemberItself() throws Exception {
        serveAll();
        servers.get("a").destroy();
        servers.get("a").waitFor();
        String other = "8c4c70c1-0000-4000-8000-0123456789ab";
        Path foreign = Files.createDirectory(store("a").resolveSibling("shop.raft").resolve(other));
        assertTrue(assertThrows(StorageReadFailure.class, () -> Store.open(store("a"), new Group("a", members)))
                .getMessage().contains(other));
        Files.delete(foreign);
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
                    assertThrows(NotLeader.class, () -> Transaction.run(() -> tallies.count("ann")));
                }
                assertTrue(member.isUsable());
            }
        }
    }

    @Test
    void aFreshReadEndsWhenNobodyLeads() throws Exception {
        serveAll();
        servers.get("a").destroy();
        servers.get("a").waitFor();
        try (Store store = Store.open(store("a"), new Group("a", members))) {
            Tallies tallies = tallies(store);
            long total = store.member().readFresh(tallies::total);
            signalOthers("a", "STOP");
            try {
                assertTimeoutPreemptively(Duration.ofMinutes(1), () -> assertThrows(StorageReadFailure.class,
                        () -> store.member().readFresh(tallies::total)));
                assertEquals(total, Transaction.<Long, RuntimeException>read(tallies::total));
            } finally {
                signalOthers("a", "CONT");
            }
        }
    }

    private void signalOthers(String than, String signal) throws Exception {
        for (String name : members.keySet()) {
            if (!name.equals(than)) {
                new ProcessBuilder("kill", "-" + signal, Long.toString(servers.get(name).pid())).start().waitFor();
            }
        }
    }

    @Test
    void aServerThatLosesItsLeadershipWaitsForProgramsAndFollows() throws Exception {
        serveAll();
        String first = leader(store("a"));
        long before = number(first);
        new ProcessBuilder("kill", "-STOP", Long.toString(servers.get(first).pid())).start().waitFor();
        String other = otherThan(first);
        long end = System.nanoTime() + WAIT_NANOS;
        while (leader(store(other)).equals(first)) {
            assertTrue(System.nanoTime() < end);
            Thread.sleep(POLL_MILLIS);
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
            assertEquals(before + 1, unknown.number());
            assertThrows(SASException.class, () -> Transaction.run(() -> tallies.count("ann")));
        }
        awaitStatus(store(first), 0, first + " +follower +[0-9]+ +[0-9]+ +" + before + " +0  .*");
    }

    @Test
    void whatIsMissingIsSaid() throws Exception {
        servers = new TreeMap<>();
        members = new TreeMap<>();
        place = directory.resolve("missing");
        assertEquals("sas: the store " + store("a") + " is no member of a group: `sas found` makes it the first one\n",
                sas(1, "status", store("a")));
        found();
        assertEquals("sas: the member with the store " + store("a") + " was never opened: name its group with "
                + "--group\n",
                sas(1, "status", store("a")));
        assertEquals("sas: the member with the store " + store("a") + " was never opened: name it with "
                + "--self, and its group with --group\n", sas(1, "server", store("a")));
        assertEquals("sas: the group " + members + " has no member d\n",
                sas(1, "server", store("a"), "--self", "d", "--group", group()));
        assertEquals("sas: the address of the member a is \"here\", not host:port\n",
                sas(1, "server", store("a"), "--self", "a", "--group", "a=here"));
        assertEquals("sas: the store " + store("a") + " is a member of a group already\n",
                sas(1, "found", store("a"), store("d")));
        assertEquals("sas: nothing carries records between members of a group: norn-sas-replica and Apache Ratis are "
                + "not on the class path\n",
                sasAlone("server", store("a"), "--self", "a", "--group", group()));
        assertEquals("sas: nothing carries records between members of a group: norn-sas-replica and Apache Ratis are "
                + "not on the class path\n",
                sasAlone("status", store("a"), "--group", group()));

        serve("a", "--self", "a", "--group", group());
        try (ServerSocket silent = new ServerSocket(port("c"))) {
            awaitStatus(store("a"), 1, "a +candidate .*", "b +unreachable .* refuses connections",
                    "c +unreachable .* takes connections, but does not answer within 5.0 s");
        }
        assertEquals("sas: --wait is 0, less than 1\n", sas(1, "status", store("a"), "--wait", 0));
        String without = sas(1, "remove", store("a"), "b", "--wait", 8);
        assertTrue(without.substring(1).startsWith(" s: asks for the leader of " + members.toString().replace(" ", "")
                + ", and which members count\n"), without);
        assertTrue(without.contains("\nsas: it has not ended after 8 s, and now asks for the leader of "), without);
        assertTrue(without.lines().count() <= 3, without);
        assertTrue(without.endsWith(" It is safe to try again: if the member was removed meanwhile, the command says "
                + "that there is none of this name\n"), without);
        assertFalse(Logger.getLogger("org.apache.ratis.thirdparty.io.netty.channel.ChannelInitializer")
                .isLoggable(Level.WARNING), "stack traces of connections of a member that was closed");
        StorageReadFailure unserved = assertThrows(StorageReadFailure.class, () -> Store.open(store("b")));
        assertTrue(unserved.getMessage().contains("start `sas server " + store("b")
                + "`, or open it by Store.open(path, group)"), unserved.getMessage());
        servers.get("a").destroyForcibly().waitFor();
        assertEquals("sas: the store " + store("a") + " is the member a of its group, not b\n",
                sas(1, "server", store("a"), "--self", "b"));
        Path log = place.resolve("a").resolve("shop.raft");
        Files.move(log, directory.resolve("gone"));
        StorageReadFailure lost = assertThrows(StorageReadFailure.class,
                () -> Store.open(store("a"), Group.of(store("a"))));
        assertEquals("the member a has lost its part of the group's log, " + log
                + ", and could vote against what it has acknowledged: it must not be opened again", lost.getMessage());
        Files.move(directory.resolve("gone"), log);
        serve("a");
        end(servers);
    }
}
