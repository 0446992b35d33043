package dev.norn.bobc;

import dev.norn.bobc.workload.Request;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Threads on a SAS store whose page pool is a file on disk, with room for only a share of the data in memory. The JVM
 * runs in a memory control group of its own, within the one of this process. Of the group's limit, what the JVM itself
 * takes is added again and again to the share, so that the share is what is left for pages of files: the pool's, and
 * those of the log and the container's file, which are written through the same cache, unless {@link Charge} says
 * otherwise.
 */
final class OverCommit {
    /** Who pays for cached pages of the log and the containers' files. A page's first user pays until it is dropped. */
    enum Charge {
        /** The JVM's group, as for the pool. */
        GROUP,
        /** This process, which reads these files before. Only pages by which they grow are the group's. */
        OUTSIDE
    }

    private static final Path CONTROLLER = Path.of("/sys/fs/cgroup/memory");
    private static final int SAMPLE_MILLIS = 100;
    private static final String HEAP = "192m";
    /** How much longer than it measures a run may take: one that does nothing but wait for pages is killed then. */
    private static final double GRACE_SECONDS = 300;

    private final Setup setup;
    private final double share;
    private final Charge charge;

    /** @param share of the data's size; 0 for no limit */
    OverCommit(Setup setup, double share, Charge charge) {
        this.setup = setup;
        this.share = share;
        this.charge = charge;
    }

    /** Why this machine cannot do it; null if it can. */
    static String obstacle(Path directory) throws IOException {
        Path group = ownGroup();
        if (group == null) {
            return "this process has no memory controller of the first version at " + CONTROLLER;
        }
        if (!Files.isWritable(group)) {
            return "control groups cannot be made in " + group;
        }
        String type = Files.getFileStore(directory).type();
        return type.equals("tmpfs") ? directory + " is a tmpfs, whose pages cannot be given back" : null;
    }

    /** The group that this process is in; null if there is none. */
    private static Path ownGroup() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/cgroup"))) {
            String[] words = line.split(":", 3);
            if (words[1].equals("memory")) {
                Path group = CONTROLLER.resolve(words[2].substring(1));
                return Files.exists(group.resolve("memory.limit_in_bytes")) ? group : null;
            }
        }
        return null;
    }

    /** Populates, runs with the limit, and checks without it. */
    Figures run() throws IOException, InterruptedException {
        String obstacle = obstacle(setup.directory);
        if (obstacle != null) {
            throw new IllegalArgumentException(obstacle);
        }
        try (Scratch scratch = new Scratch(setup.directory)) {
            Path directory = scratch.path;
            Figures populated = child("populate", List.of("SAS", directory.toString()));
            dropCache(directory);
            if (charge == Charge.OUTSIDE) {
                cache(directory);
            }
            Figures run = limited(directory, populated.get("data_bytes"));
            Figures checked = child("check", List.of("SAS", directory.toString()));
            return run.with("share", share).with("data_before_bytes", populated.get("data_bytes"))
                    .with("data_after_bytes", checked.get("data_bytes"));
        }
    }

    private Figures child(String command, List<String> arguments) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(command));
        all.addAll(arguments);
        all.addAll(setup.arguments());
        try (Jvm jvm = new Jvm(PeerKind.SAS, setup.heap, List.of(), all, List.of())) {
            return jvm.figures(System.err::println);
        }
    }

    /** Pages that are cached belong to the group that has read or written them, so none may be. */
    private static void dropCache(Path directory) throws IOException, InterruptedException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Process dd = new ProcessBuilder("dd", "of=" + file, "oflag=nocache", "conv=notrunc,fdatasync",
                        "count=0", "status=none")
                        .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
                if (dd.waitFor() != 0) {
                    throw new RunFailed("dd cannot sync " + file + " and drop it from the cache");
                }
            }
        }
    }

    /** Reads the log and the containers' files, holes of the log included: their pages are this process's. */
    private static void cache(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            for (Path file : files.filter(path -> path.toString().matches(".*[.](container|log)")).toList()) {
                try (var bytes = Files.newInputStream(file)) {
                    bytes.transferTo(OutputStream.nullOutputStream());
                }
            }
        }
    }

    private Figures limited(Path directory, double dataBytes) throws IOException, InterruptedException {
        Path group = Files.createTempDirectory(ownGroup(), "bobc");
        try {
            List<String> arguments = new ArrayList<>(List.of("part", "SAS", directory.toString(), "0"));
            arguments.addAll(setup.arguments());
            List<String> join =
                    List.of("sh", "-c", "echo $$ > " + group.resolve("cgroup.procs") + " && exec \"$@\"", "sh");
            try (Jvm jvm = new Jvm(PeerKind.SAS, HEAP,
                    List.of("-Xms" + HEAP, "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"), arguments, join)) {
                jvm.awaitReady();
                Governor governor = new Governor(group, jvm, (long) (share * dataBytes));
                governor.start();
                jvm.goOn();
                try {
                    return governor.end(jvm.figures(System.err::println));
                } catch (RunFailed e) {
                    return governor.endOfKilled(e);
                }
            }
        } finally {
            remove(group);
        }
    }

    /** The group is empty a moment after its last process has ended. */
    private static void remove(Path group) throws IOException, InterruptedException {
        for (int i = 0;; i++) {
            try {
                Files.delete(group);
                return;
            } catch (IOException e) {
                if (i == 50) {
                    throw e;
                }
                Thread.sleep(100);
            }
        }
    }

    /** Keeps the limit at what the JVM itself takes and the share. */
    private final class Governor extends Thread {
        private final Path group;
        private final Jvm jvm;
        private final long shareBytes;
        private final double allowed = setup.warmUp + setup.seconds + GRACE_SECONDS;
        private final long deadline = System.nanoTime() + (long) (allowed * 1e9);
        /** Of the process that was killed at the deadline; null if none was. */
        private volatile Drive.Usage usage;
        private volatile boolean isOver;
        private volatile IOException failure;
        private long ownMax;
        private long cacheMax;
        private long samples;
        private long samplesWithout;
        /** Pages that were read again after they had been dropped, in the whole run. */
        private long refaults;

        Governor(Path group, Jvm jvm, long shareBytes) {
            this.group = group;
            this.jvm = jvm;
            this.shareBytes = shareBytes;
            setDaemon(true);
        }

        private long stat(String name) throws IOException {
            for (String line : Files.readAllLines(group.resolve("memory.stat"))) {
                if (line.startsWith(name + " ")) {
                    return Long.parseLong(line.substring(name.length() + 1));
                }
            }
            throw new IOException("memory.stat of " + group + " has no " + name);
        }

        private void sample() throws IOException {
            samples++;
            if (Files.readString(group.resolve("memory.oom_control")).contains("under_oom 1")) {
                samplesWithout++;
            }
            long own = stat("rss")
                    + Long.parseLong(Files.readString(group.resolve("memory.kmem.usage_in_bytes")).trim());
            ownMax = Math.max(ownMax, own);
            cacheMax = Math.max(cacheMax, stat("cache"));
            refaults = stat("workingset_refault_file");
            if (share > 0) {
                try {
                    Files.writeString(group.resolve("memory.limit_in_bytes"), Long.toString(own + shareBytes));
                } catch (IOException e) {
                    // Less than is in use and cannot be given back at once: the old limit stays until the next time.
                }
            }
        }

        @Override
        public void run() {
            try {
                // What finds no page waits for the limit to follow, instead of being killed.
                Files.writeString(group.resolve("memory.oom_control"), "1");
                while (!isOver) {
                    sample();
                    if (System.nanoTime() > deadline) {
                        String process = Long.toString(jvm.pid());
                        usage = new Drive.Usage(0, Probe.io(process, "wchar"), Probe.io(process, "write_bytes"),
                                Probe.io(process, "read_bytes"), Probe.majorFaults(process));
                        jvm.close();
                        return;
                    }
                    Thread.sleep(SAMPLE_MILLIS);
                }
            } catch (IOException e) {
                failure = e;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /**
         * What a run has used that did not end.
         *
         * @throws RunFailed the given one, if it ended otherwise
         */
        Figures endOfKilled(RunFailed failed) throws IOException, InterruptedException {
            isOver = true;
            join();
            if (usage == null) {
                throw failed;
            }
            var outcome = new Drive.Outcome(allowed, new long[Request.Kind.values().length], 0, 0, 0, usage,
                    Peer.Counts.UNKNOWN);
            return end(new Report(outcome, 0, 0, 0).figures());
        }

        Figures end(Figures figures) throws IOException, InterruptedException {
            isOver = true;
            join();
            if (failure != null) {
                throw failure;
            }
            return figures.with("refaults", refaults).with("own_bytes", ownMax).with("cache_bytes", cacheMax)
                    .with("share_bytes", shareBytes)
                    .with("waiting_samples", (double) samplesWithout / Math.max(1, samples));
        }
    }

    private static String per(Figures run, String name, double unit, String format) {
        long transactions = Report.of(run).outcome().transactions();
        return transactions == 0 ? "-" : format.formatted(run.get(name) / unit / transactions);
    }

    static String name(double share) {
        return share == 0 ? "no limit" : "%.3g".formatted(share);
    }

    /** What there is to say of a run without a transaction. */
    private static String ended(Figures run) {
        return Report.of(run).outcome().transactions() > 0 ? ""
                : ": no transaction ended in %.0f s; %,d major faults, %,.0f MB read"
                        .formatted(run.get("seconds"), run.whole("major_faults"), run.get("read_bytes") / 1e6);
    }

    static String table(List<Figures> runs) {
        StringBuilder table = new StringBuilder("| share of the data | tpmBOB-C | to the first "
                + "| data MB before, after | most cached MB | JVM MB | CPU ms/tx | major faults/tx | KB read/tx "
                + "| KB of pages dirtied/tx | KB written/tx | KB read each fault | pages dropped and read again "
                + "| conflicts | out of memory, % of samples |\n" + "|---".repeat(15) + "|\n");
        double first = runs.isEmpty() ? 0 : Report.of(runs.getFirst()).tpm();
        for (Figures run : runs) {
            String row = "| %s | %,.0f | %.4f | %.1f, %.1f | %.1f | %.0f | %s | %s | %s | %s | %s | %,.1f | %,d | %,d "
                    + "| %.1f |%n";
            table.append(row.formatted(name(run.get("share")) + ended(run), Report.of(run).tpm(),
                    Report.of(run).tpm() / first, run.get("data_before_bytes") / 1e6,
                    run.get("data_after_bytes") / 1e6, run.get("cache_bytes") / 1e6,
                    run.get("own_bytes") / 1e6, per(run, "cpu_ns", 1e6, "%,.3f"),
                    per(run, "major_faults", 1, "%,.3f"), per(run, "read_bytes", 1024, "%,.1f"),
                    per(run, "dirtied_bytes", 1024, "%,.1f"), per(run, "written_bytes", 1024, "%,.1f"),
                    run.get("read_bytes") / Math.max(1, run.get("major_faults")) / 1024,
                    run.whole("refaults"), run.whole("conflicts"), 100 * run.get("waiting_samples")));
        }
        return table.toString();
    }
}
