package dev.norn.sas.replica;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A group whose members are in network namespaces of their own, on one bridge, so that they can be cut off from each
 * other. One of them has a small disk, and some may have clocks that go wrong. Needs root, {@code ip} of iproute2, and
 * gcc for the clocks. What one namespace drops on its way out is lost without a word, as by a broken switch.
 */
final class NetworkGroup extends TestGroup {
    private static final int PORT = 7000;
    private static final String PREFIX = "sas" + ProcessHandle.current().pid() + "-";
    private static final String HUB = PREFIX + "hub";
    private static final int SMALL_DISK_MB = 48;

    private final List<String> names;
    private final String small;
    private final Map<String, Clock> clocks;

    /** A clock that is so many seconds ahead when a process begins, and goes on so many times as fast. */
    record Clock(double ahead, double rate) {}

    /**
     * @param small who has the small disk
     * @param clocks whose time of day is another one than this machine's; the time since the system's start, by which
     *     clients say when they have counted, is everybody's
     */
    NetworkGroup(Path directory, List<String> names, String small, Map<String, Clock> clocks) throws IOException {
        super(prepare(directory, names, small), names, 0);
        this.names = names;
        this.small = small;
        this.clocks = clocks;
        if (!clocks.isEmpty()) {
            run("gcc", "-shared", "-fPIC", "-O2", "-o", clockLibrary(directory).toString(),
                    Path.of("src/test/c/skewed_clock.c").toAbsolutePath().toString(), "-ldl");
        }
    }

    private static Path clockLibrary(Path directory) {
        return directory.resolve("skewed_clock.so");
    }

    static boolean isPossible() {
        try {
            return System.getProperty("user.name").equals("root")
                    && new ProcessBuilder("ip", "netns", "list").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Path prepare(Path directory, List<String> names, String small) throws IOException {
        try {
            Path disk = Files.createDirectories(directory.resolve(small));
            run("mount", "-t", "tmpfs", "-o", "size=" + SMALL_DISK_MB + "m", "tmpfs", disk.toString());
            run("ip", "netns", "add", HUB);
            run("ip", "-n", HUB, "link", "add", "bridge", "type", "bridge");
            run("ip", "-n", HUB, "link", "set", "bridge", "up");
            for (String name : names) {
                plug(name);
            }
            return directory;
        } catch (IOException e) {
            undo(directory, names, small).forEach(e::addSuppressed);
            throw e;
        }
    }

    private static void plug(String name) throws IOException {
        String port = "to-" + name;
        run("ip", "netns", "add", PREFIX + name);
        run("ip", "-n", HUB, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", PREFIX + name);
        run("ip", "-n", HUB, "link", "set", port, "master", "bridge", "up");
        run("ip", "-n", PREFIX + name, "address", "add", ip(name) + "/24", "dev", "eth0");
        run("ip", "-n", PREFIX + name, "link", "set", "eth0", "up");
        run("ip", "-n", PREFIX + name, "link", "set", "lo", "up");
    }

    /** Takes away what {@link #prepare} has made; returns what went wrong. */
    private static List<IOException> undo(Path directory, List<String> names, String small) {
        List<String[]> commands = new ArrayList<>();
        commands.add(new String[] {"umount", directory.resolve(small).toString()});
        for (String name : names) {
            commands.add(new String[] {"ip", "netns", "del", PREFIX + name});
        }
        commands.add(new String[] {"ip", "netns", "del", HUB});
        List<IOException> wrong = new ArrayList<>();
        for (String[] command : commands) {
            try {
                run(command);
            } catch (IOException e) {
                wrong.add(e);
            }
        }
        return wrong;
    }

    private static String ip(String name) {
        return "10.77.0." + (name.charAt(0) - 'a' + 1);
    }

    private static void run(String... command) throws IOException {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IOException(String.join(" ", command) + ": " + said);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** So little that a member without room on its disk is soon unable to go on. */
    @Override
    int logBytes() {
        return 64 << 10;
    }

    @Override
    String address(String name) {
        return ip(name) + ":" + PORT;
    }

    @Override
    List<String> prefix(String name) {
        List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", PREFIX + name));
        if (clocks.containsKey(name)) {
            Clock clock = clocks.get(name);
            command.addAll(List.of("env", "LD_PRELOAD=" + clockLibrary(directory), "SKEW_SECONDS=" + clock.ahead,
                    "SKEW_RATE=" + clock.rate));
        }
        return command;
    }

    /** What these send to the others is lost. */
    void drop(Set<String> from, Set<String> to) throws IOException {
        for (String one : from) {
            for (String other : to) {
                run("ip", "-n", PREFIX + one, "route", "add", "blackhole", ip(other) + "/32");
            }
        }
    }

    /** Nothing is lost any more. */
    void heal() throws IOException {
        for (String name : names) {
            run("ip", "-n", PREFIX + name, "route", "flush", "type", "blackhole");
        }
    }

    /** Leaves no room on the small disk. */
    void fillDisk() throws IOException {
        Path filler = directory.resolve(small).resolve("filler");
        byte[] bytes = new byte[4096];
        try (var file = Files.newOutputStream(filler)) {
            for (int i = 0; i < SMALL_DISK_MB << 8; i++) {
                file.write(bytes);
            }
        } catch (IOException e) {
            // It is full.
        }
    }

    void emptyDisk() throws IOException {
        Files.deleteIfExists(directory.resolve(small).resolve("filler"));
    }

    @Override
    public void close() throws Exception {
        super.close();
        for (IOException wrong : undo(directory, names, small)) {
            throw wrong;
        }
    }
}
