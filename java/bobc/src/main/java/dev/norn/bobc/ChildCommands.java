package dev.norn.bobc;

import dev.norn.bobc.workload.Draw;
import dev.norn.bobc.workload.Scale;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * What the JVMs do that the command starts: one thing with one peer, whose figures they print as a line. They need the
 * options that {@link Jvm} gives them.
 */
final class ChildCommands {
    /** Of more processes than that, each has a small heap: terminals keep nothing. */
    private static final int PROCESSES_LARGE = 4;
    private static final String SMALL_HEAP = "192m";

    private ChildCommands() {}

    private static int check(List<String> findings) {
        findings.stream().limit(20).forEach(System.err::println);
        if (!findings.isEmpty()) {
            System.err.println("bobc: the consistency conditions do not hold, or orders are missing: "
                    + findings.size() + " findings");
        }
        return findings.isEmpty() ? 0 : 1;
    }

    private static Figures figures(SasPeer peer) {
        return new Figures().with("data_bytes", peer.store().container("main").bytesUsed());
    }

    private static RunFailed full(PeerKind kind) {
        String cause = kind.data == PeerKind.Data.ON_THE_HEAP
                ? kind + " keeps all data on it, and every order stays" : kind + " needs more";
        return new RunFailed("the heap of %,d MB is full: %s; ask for more with --heap, or for fewer --seconds, "
                .formatted(Runtime.getRuntime().maxMemory() >> 20, cause) + "--threads or --warehouses");
    }

    @Command(name = "single", hidden = true, description = "A run of a peer.")
    static final class Single implements Callable<Integer> {
        @Parameters(index = "0")
        private PeerKind kind;
        @Mixin
        private Setup setup;

        @Override
        public Integer call() throws Exception {
            try (Scratch scratch = new Scratch(setup.directory);
                    Peer peer = kind.open(scratch.path, setup.scale, setup.pool)) {
                return run(peer, scratch.path);
            } catch (OutOfMemoryError e) {
                throw full(kind);
            }
        }

        private int run(Peer peer, Path directory) throws IOException, InterruptedException {
            long start = System.nanoTime();
            peer.populate(setup.scale, setup.warehouses, setup.seed);
            double populated = (System.nanoTime() - start) / 1e9;
            long orders = peer.orders();
            double before = Probe.syncMicros(directory);
            Drive.Outcome outcome = setup.processes == 1 ? Drive.run(peer, setup.plan(0)) : runProcesses(directory);
            Report report = new Report(outcome, populated, before, Probe.syncMicros(directory));
            if (outcome.transactions() == 0) {
                throw new RunFailed("no transaction ended within " + setup.seconds + " s");
            }
            List<String> findings = new ArrayList<>(peer.inconsistencies());
            if (peer.orders() - orders != outcome.entered()) {
                findings.add("%,d New-Orders were committed, but %,d more orders are kept"
                        .formatted(outcome.entered(), peer.orders() - orders));
            }
            int status = check(findings);
            System.out.println(report.figures().encode());
            return status;
        }

        private Drive.Outcome runProcesses(Path directory) throws IOException, InterruptedException {
            String heap = setup.processes > PROCESSES_LARGE ? SMALL_HEAP : setup.heap;
            List<Figures> figures = Jvm.together(setup.processes, number -> {
                List<String> arguments = new ArrayList<>(
                        List.of("part", kind.toString(), directory.toString(), Integer.toString(number)));
                arguments.addAll(setup.arguments());
                return new Jvm(kind, heap, List.of(), arguments, List.of());
            }, System.out::println);
            return Report.sum(figures.stream().map(its -> Report.of(its).outcome()).toList());
        }
    }

    /** What one does with a peer that another JVM has made, or keeps. */
    private abstract static class OnPeer implements Callable<Integer> {
        @Parameters(index = "0")
        PeerKind kind;
        @Parameters(index = "1")
        Path directory;
        @Mixin
        Setup setup;

        /** @return the status */
        abstract int run(Peer peer) throws Exception;

        @Override
        public Integer call() throws Exception {
            try (Peer peer = kind.open(directory, setup.scale, setup.pool)) {
                return run(peer);
            } catch (OutOfMemoryError e) {
                throw full(kind);
            }
        }
    }

    @Command(name = "part", hidden = true,
            description = "The terminals of one JVM with a peer that is filled; says \"ready\" and waits for a line.")
    static final class Part extends OnPeer {
        @Parameters(index = "2")
        private int process;

        @Override
        int run(Peer peer) throws IOException, InterruptedException {
            if (kind == PeerKind.SAS) {
                setup.paging.apply(setup.pool == null ? directory.resolve("store").resolve("pool")
                        : Path.of(setup.pool));
            }
            Jvm.sayReadyAndWait();
            System.out.println(new Report(Drive.run(peer, setup.plan(process)), 0, 0, 0).figures().encode());
            return 0;
        }
    }

    @Command(name = "populate", hidden = true,
            description = "Fills a peer in a directory, where it stays; says what it takes there.")
    static final class Populate extends OnPeer {
        private Figures figures = new Figures();

        @Override
        int run(Peer peer) {
            peer.populate(setup.scale, setup.warehouses, setup.seed);
            figures = peer instanceof SasPeer sas ? figures(sas) : figures;
            return 0;
        }

        /** The files have their size only when the peer is closed. */
        @Override
        public Integer call() throws Exception {
            int status = super.call();
            System.out.println(figures.with("file_bytes", Probe.diskBytes(directory)).encode());
            return status;
        }
    }

    @Command(name = "check", hidden = true, description = "Checks the conditions of a peer that is filled.")
    static final class Check extends OnPeer {
        @Override
        int run(Peer peer) {
            int status = check(peer.inconsistencies());
            Figures figures = peer instanceof SasPeer sas ? figures(sas) : new Figures().with("findings", 0);
            System.out.println(figures.encode());
            return status;
        }
    }

    @Command(name = "sheet", hidden = true, description = "The storage sheet of a warehouse.")
    static final class Sheet implements Callable<Integer> {
        @Option(names = "--scale")
        private Scale scale;
        @Option(names = "--directory")
        private Path directory;
        @Option(names = "--letters")
        private Draw.Letters letters;

        @Override
        public Integer call() throws Exception {
            Draw.use(letters);
            try (Scratch scratch = new Scratch(directory);
                    SasPeer peer = new SasPeer(scratch.path.resolve("store"), scale, null)) {
                long empty = peer.store().container("main").bytesUsed();
                peer.populate(scale, 1, 1997);
                StorageSheet sheet =
                        StorageSheet.of(peer.store(), peer.store().container("main").bytesUsed() - empty, scale);
                int status = check(peer.inconsistencies());
                sheet.lines().forEach(System.out::println);
                System.out.println(sheet.figures()
                        .with("date_bytes", StorageSheet.bytesOfADate(peer.store())).encode());
                return status;
            }
        }
    }
}
