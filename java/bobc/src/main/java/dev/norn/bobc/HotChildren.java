package dev.norn.bobc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** What the JVMs do that {@code bobc hot} starts. They print figures as a line. */
final class HotChildren {
    private static final String HEAP = "1g";

    private HotChildren() {}

    /** Makes accounts in a directory, has them raised in JVMs of their own, and checks what is there afterwards. */
    static HotOutcome run(HotRow row, HotDrive.Time time, long seed, Path directory)
            throws IOException, InterruptedException {
        try (Jvm jvm = jvm("hot-run", row, time, seed, directory)) {
            return HotOutcome.of(jvm.figures(System.err::println));
        }
    }

    private static Jvm jvm(String command, HotRow row, HotDrive.Time time, long seed, Path directory)
            throws IOException {
        return new Jvm(row.kind().jvm(), HEAP, List.of(), List.of(command, row.encode(), "" + time.seconds(),
                "" + time.warmUp(), "" + seed, directory.toString()), List.of());
    }

    /** What both commands take. */
    private abstract static class Child implements Callable<Integer> {
        @Parameters(index = "0")
        private String word;
        @Parameters(index = "1")
        private int seconds;
        @Parameters(index = "2")
        private int warmUp;
        @Parameters(index = "3")
        long seed;
        @Parameters(index = "4")
        Path directory;

        HotRow row() {
            return HotRow.decode(word);
        }

        HotDrive.Time time() {
            return new HotDrive.Time(seconds, warmUp);
        }

        abstract HotOutcome outcome() throws IOException, InterruptedException;

        @Override
        public Integer call() throws Exception {
            System.out.println(outcome().figures().encode());
            return 0;
        }
    }

    @Command(name = "hot-run", hidden = true, description = "Accounts, raised and checked.")
    static final class Run extends Child {
        @Override
        HotOutcome outcome() throws IOException, InterruptedException {
            HotRow row = row();
            try (Scratch scratch = new Scratch(directory)) {
                row.kind().create(scratch.path, row.objects());
                HotOutcome outcome = row.processes() == 1 ? drive(row, scratch.path) : parts(row, scratch.path);
                return check(row.kind(), scratch.path, outcome);
            }
        }

        private HotOutcome drive(HotRow row, Path at) throws InterruptedException {
            try (HotPeer peer = row.kind().open(at)) {
                return HotDrive.run(peer, row, time(), seed);
            }
        }

        private HotOutcome parts(HotRow row, Path at) throws IOException, InterruptedException {
            List<Figures> figures = Jvm.together(row.processes(),
                    number -> jvm("hot-part", row, time(), seed + number, at), System.err::println);
            return figures.stream().map(HotOutcome::of).reduce(HotOutcome::plus).orElseThrow();
        }
    }

    /**
     * Opens the data again, as if the machine had stopped: SAS without the pool, from its containers and its log.
     *
     * @throws RunFailed if an increment is missing, or the peer's checker finds something
     */
    static HotOutcome check(HotKind kind, Path at, HotOutcome outcome) throws IOException {
        Files.deleteIfExists(at.resolve("store").resolve("pool"));
        try (HotPeer peer = kind.open(at)) {
            List<String> findings = peer.findings();
            if (!findings.isEmpty()) {
                throw new RunFailed("%s's checker has %d findings: %s".formatted(kind, findings.size(),
                        findings.getFirst()));
            }
            return outcome.requireSum(peer.sum());
        }
    }

    @Command(name = "hot-part", hidden = true,
            description = "The clients of one JVM of several; says \"ready\" and waits for a line.")
    static final class Part extends Child {
        @Override
        HotOutcome outcome() throws IOException, InterruptedException {
            try (HotPeer peer = row().kind().open(directory)) {
                Jvm.sayReadyAndWait();
                return HotDrive.run(peer, row(), time(), seed);
            }
        }
    }
}
