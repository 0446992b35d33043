package dev.norn.bobc;

import dev.norn.bobc.workload.Scale;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine;

/** The options that a run has, however it is started. */
final class Setup {
    @Option(names = "--scale", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})",
            defaultValue = "HUNDREDTH")
    Scale scale;
    @Option(names = "--warehouses", description = "(default: ${DEFAULT-VALUE})", defaultValue = "1")
    int warehouses;
    @Option(names = "--threads",
            description = "terminals, of each process (default: ${DEFAULT-VALUE})", defaultValue = "1")
    int threads;
    @Option(names = "--processes",
            description = "JVMs that share the store; SAS only (default: ${DEFAULT-VALUE})", defaultValue = "1")
    int processes;
    @Option(names = "--seconds", description = "to measure (default: ${DEFAULT-VALUE})", defaultValue = "10")
    double seconds;
    @Option(names = "--warm-up", description = "seconds before that (default: ${DEFAULT-VALUE})", defaultValue = "5")
    double warmUp;
    @Option(names = "--pace",
            description = "${COMPLETION-CANDIDATES}: HUMAN waits to key in and to think (default: ${DEFAULT-VALUE})",
            defaultValue = "NONE")
    Drive.Pace pace;
    @Option(names = "--haste",
            description = "divides the times to key in and to think (default: ${DEFAULT-VALUE})", defaultValue = "1")
    double haste;
    @Option(names = "--screens", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})",
            defaultValue = "NONE")
    Drive.Screens screens;
    @Option(names = "--mix", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})",
            defaultValue = "SPECIFIED")
    Terminal.Mix mix;
    @Option(names = "--seed", description = "(default: ${DEFAULT-VALUE})", defaultValue = "1997")
    long seed;
    @Option(names = "--directory",
            description = "where the data are made, in a directory that is removed again (default: ${DEFAULT-VALUE})",
            defaultValue = ".")
    Path directory;
    @Option(names = "--pool",
            description = "the file of SAS's page pool, for example in /dev/shm (default: in the store)")
    String pool;
    @Option(names = "--paging", description = "${COMPLETION-CANDIDATES}: how the kernel reads missing pages of SAS's "
            + "pool, for overcommit (default: ${DEFAULT-VALUE})", defaultValue = "RANDOM")
    Paging paging;
    @Option(names = "--heap", description = "Java heap of each JVM, for example 4g; 192m for more than four "
            + "processes of terminals (default: 2g; for objects on the heap a third of the free memory, 12g at most)")
    String heap;

    /** From options as they are written on a command line. */
    static Setup of(List<String> options) {
        Setup setup = new Setup();
        new CommandLine(setup).parseArgs(options.toArray(String[]::new));
        return setup;
    }

    Drive.Plan plan(int process) {
        return new Drive.Plan(scale, warehouses, threads, process * threads, seconds, warmUp, pace,
                haste, screens, mix, seed);
    }

    /** @throws IllegalArgumentException that names what is wrong */
    void validate(PeerKind kind) {
        Scratch.requireParent(directory);
        if (warehouses < 1 || threads < 1 || processes < 1 || seconds <= 0 || warmUp < 0 || haste <= 0) {
            throw new IllegalArgumentException("--warehouses, --threads and --processes are at least 1, "
                    + "--seconds and --haste more than 0, --warm-up not less");
        }
        if (processes > 1 && kind != PeerKind.SAS) {
            throw new IllegalArgumentException("--processes is for SAS only, not for " + kind);
        }
        if (kind == PeerKind.SAS && processes * threads > 40 && pace == Drive.Pace.NONE) {
            throw new IllegalArgumentException(processes * threads
                    + " terminals without pause: a store runs 48 transactions at a time, so 40 at most");
        }
        if (screens != Drive.Screens.NONE && !kind.hasScreens()) {
            throw new IllegalArgumentException("--screens is for objects only, not for " + kind);
        }
    }

    /** Whether the data are in a file system that a stop of the machine empties. */
    boolean isInMemory() throws IOException {
        return Probe.isInMemory(directory);
    }

    /** What a commit of the peer survives where its data are made. */
    String survives(PeerKind kind) throws IOException {
        if (kind.durability == PeerKind.Durability.MACHINE && isInMemory()) {
            return "what the file system of " + directory
                    + " does: it is memory, so a killed process, not a stop of the machine";
        }
        return kind.durability.survives;
    }

    /** The same options for another JVM. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of("--scale=" + scale, "--warehouses=" + warehouses,
                "--threads=" + threads, "--processes=" + processes, "--seconds=" + seconds, "--warm-up=" + warmUp,
                "--pace=" + pace, "--haste=" + haste, "--screens=" + screens, "--mix=" + mix, "--seed=" + seed,
                "--paging=" + paging, "--directory=" + directory));
        if (pool != null) {
            arguments.add("--pool=" + pool);
        }
        if (heap != null) {
            arguments.add("--heap=" + heap);
        }
        return arguments;
    }
}
