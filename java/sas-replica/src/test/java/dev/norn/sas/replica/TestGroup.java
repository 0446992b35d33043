package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.norn.replica.example.Accounts;
import dev.norn.replica.example.MemberProgram;
import dev.norn.replica.example.Tallies;
import dev.norn.sas.Factory;
import dev.norn.sas.Group;
import dev.norn.sas.Store;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A group whose members are processes of this machine, each with clients: {@link MemberProgram}. */
class TestGroup implements AutoCloseable {
    static final long ANSWER_SECONDS_MAX = 180;
    private static final long DUMP_SECONDS_MAX = 30;
    private static final long HOW_SECONDS_MAX = 10;
    private static final Pattern OURS = Pattern.compile("at (dev\\.norn|org\\.apache\\.ratis\\.server)\\.");

    final Path directory;
    final Map<String, String> members = new TreeMap<>();
    final TreeMap<String, Child> children = new TreeMap<>();
    final CountHistory history = new CountHistory();

    /** Makes a group of these members, with accounts. */
    TestGroup(Path directory, List<String> names, int accounts) throws IOException {
        this.directory = directory;
        Path seed = directory.resolve("seed");
        try (Store store = Store.create(seed, Store.Options.defaults().withLogBytes(logBytes()))) {
            store.setRoot("tallies", Factory.newInstanceIn(Tallies.class, store.container(Store.MAIN)));
            Accounts all = Factory.newInstanceIn(Accounts.class, store.container(Store.MAIN));
            all.open(accounts);
            store.setRoot("accounts", all);
        }
        Group.found(seed, names.stream().map(name -> directory.resolve(name).resolve("store")).toList());
        for (String name : names) {
            members.put(name, address(name));
        }
    }

    /** Where a member is reached. */
    String address(String name) throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return "127.0.0.1:" + socket.getLocalPort();
        }
    }

    /** Little, so that members make checkpoints all the time. */
    int logBytes() {
        return 1 << 20;
    }

    /** How long the group's log becomes before it is cut off. */
    long groupLogBytes() {
        return Group.LOG_BYTES;
    }

    /** What a member's command begins with. */
    List<String> prefix(String name) {
        return List.of();
    }

    /** Options of a member's JVM. */
    List<String> jvm(String name) {
        return List.of("-Xmx256m", "-XX:TieredStopAtLevel=1");
    }

    String peers() {
        return members.toString().replaceAll("[{} ]", "");
    }

    Child start(String name, int clients) throws IOException {
        Child child = new Child(name, clients);
        children.put(name, child);
        return child;
    }

    /** The last lines that members have written to standard error. */
    String errors() throws IOException {
        StringBuilder all = new StringBuilder();
        for (String name : members.keySet()) {
            Path file = directory.resolve(name + ".err");
            List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
            all.append(name).append(":\n").append(String.join("\n",
                    lines.subList(Math.max(0, lines.size() - 30), lines.size()))).append('\n');
        }
        return all.toString();
    }

    /** What a test says that waits in vain: how members are, and what their threads are at. */
    String report() throws Exception {
        StringBuilder all = new StringBuilder("members " + members + "\n");
        for (Child child : children.values()) {
            all.append(child.process.isAlive() ? child.threads() : child.name + " has ended\n");
        }
        all.append(errors());
        Group.status(directory.resolve(children.firstKey()).resolve("store"), members,
                Duration.ofSeconds(HOW_SECONDS_MAX)).forEach(one -> all.append(one).append('\n'));
        for (Child child : children.values()) {
            all.append(child.name).append(": ").append(child.process.isAlive() ? child.how() : "has ended")
                    .append('\n');
        }
        return all.append(history.last()).append('\n').toString();
    }

    /** Whether a member's server takes connections. */
    boolean listens(String name) throws IOException {
        String address = members.get(name);
        try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(address.substring(address.indexOf(':') + 1)))) {
            return socket.isConnected();
        } catch (ConnectException e) {
            return false;
        }
    }

    /** Waits until a count is acknowledged that another than this member has led; returns who has. */
    String awaitOther(String than) throws Exception {
        history.leader.set("");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_SECONDS_MAX);
        while (history.leader.get().isEmpty() || history.leader.get().equals(than)) {
            if (System.nanoTime() > end) {
                fail("no count is acknowledged\n" + report());
            }
            Thread.sleep(1);
        }
        return history.leader.get();
    }

    /** A member that has a process. */
    String otherThan(String name) {
        return children.keySet().stream().filter(one -> !one.equals(name)).findFirst().orElseThrow();
    }

    /** Waits until so many more counts are acknowledged. */
    void awaitMore(int counts) throws Exception {
        long acknowledged = history.acknowledgements();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_SECONDS_MAX);
        while (history.acknowledgements() < acknowledged + counts) {
            if (System.nanoTime() > end) {
                fail("only " + (history.acknowledgements() - acknowledged) + " counts are acknowledged\n" + report());
            }
            Thread.sleep(1);
        }
    }

    /** Ends the clients, and returns what all members have then: that has to be the same. */
    String stop() throws Exception {
        for (Child child : children.values()) {
            child.ask("stop");
        }
        // Numbers say nothing here: a member that is opened again goes back to an earlier one.
        String state = children.values().iterator().next().ask("fresh");
        for (Child child : children.values()) {
            assertEquals(state, child.ask("fresh"), child.name);
        }
        return state;
    }

    @Override
    public void close() throws Exception {
        for (Child child : children.values()) {
            child.process.destroyForcibly().waitFor();
        }
    }

    /** A member's process. */
    final class Child {
        final String name;
        final Process process;
        private final LinkedBlockingQueue<String> answers = new LinkedBlockingQueue<>();

        private Child(String name, int clients) throws IOException {
            this.name = name;
            List<String> command = new ArrayList<>(prefix(name));
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(jvm(name));
            command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                    "-javaagent:" + System.getProperty("sas.jar") + "=packages=dev.norn.replica.example",
                    "-cp", System.getProperty("java.class.path"), MemberProgram.class.getName(),
                    directory.resolve(name).toString(), name, peers(), Integer.toString(clients),
                    Long.toString(groupLogBytes())));
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.appendTo(directory.resolve(name + ".err").toFile()))
                    .start();
            Thread.ofPlatform().daemon().start(this::read);
        }

        private void read() {
            try (BufferedReader lines = process.inputReader()) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (!history.take(name, line)) {
                        answers.add(line);
                    }
                }
            } catch (IOException e) {
                // It was killed.
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
                String line = answers.poll(ANSWER_SECONDS_MAX, TimeUnit.SECONDS);
                if (line == null) {
                    fail(name + " does not say " + prefix + "\n" + errors() + threads());
                }
                if (line.startsWith(prefix)) {
                    return line.substring(prefix.length()).strip();
                }
                assertTrue(!line.startsWith("failed"), line);
            }
        }

        /** Lines that it has said so far are not those that are waited for. */
        void forget(String line) {
            answers.removeIf(line::equals);
        }

        /** How the member is, if its process answers. */
        String how() throws Exception {
            process.outputWriter().write("how\n");
            process.outputWriter().flush();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(HOW_SECONDS_MAX);
            while (System.nanoTime() < end) {
                String line = answers.poll(1, TimeUnit.SECONDS);
                if (line != null && line.startsWith("how ")) {
                    return line;
                }
            }
            return "does not say how it is";
        }

        /** What those threads of the process are at that this project's code runs in, or Raft's. */
        String threads() throws Exception {
            Path dump = directory.resolve(name + ".threads");
            Process jcmd = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                    Long.toString(process.pid()), "Thread.print", "-l").redirectErrorStream(true)
                    .redirectOutput(dump.toFile()).start();
            if (!jcmd.waitFor(DUMP_SECONDS_MAX, TimeUnit.SECONDS)) {
                jcmd.destroyForcibly().waitFor();
            }
            return Arrays.stream(Files.readString(dump).split("\n\n")).filter(one -> OURS.matcher(one).find())
                    .collect(Collectors.joining("\n\n", "threads of " + name + ":\n", "\n\n"));
        }

        void signal(String signal) throws Exception {
            new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
        }

        /** From now on, it can write no file beyond so many bytes. */
        void limitFiles(long bytes) throws Exception {
            limit(Long.toString(bytes));
        }

        void limitFilesNoMore() throws Exception {
            limit("unlimited");
        }

        private void limit(String bytes) throws Exception {
            assertEquals(0, new ProcessBuilder("prlimit", "--fsize=" + bytes + ":", "--pid",
                    Long.toString(process.pid())).start().waitFor());
        }
    }
}
