package dev.norn.bobc;

import dev.norn.bobc.workload.Draw;
import dev.norn.bobc.workload.Scale;
import dev.norn.sas.command.Version;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine;

/**
 * {@code bobc}: the business object benchmark. Whatever runs a peer runs in a JVM of its own, so that this one can say
 * how that ended. Ends with 1 if a consistency condition does not hold or a run fails, and says why on the error
 * output; with 2 for wrong arguments.
 */
@Command(name = "bobc", mixinStandardHelpOptions = true, scope = CommandLine.ScopeType.INHERIT,
        versionProvider = Version.class,
        description = "The business object benchmark: TPC-C's entities as Java objects.",
        subcommands = {BobcCommand.Run.class, BobcCommand.Compare.class, BobcCommand.Storage.class,
                BobcCommand.Overcommit.class, LoadCommand.class, EvaluationCommand.class, HotCommand.class,
                CommandLine.HelpCommand.class, LoadCommand.Fill.class, ChildCommands.Single.class,
                ChildCommands.Part.class, ChildCommands.Populate.class, ChildCommands.Check.class,
                ChildCommands.Sheet.class, HotChildren.Run.class, HotChildren.Part.class})
public final class BobcCommand implements Callable<Integer> {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    private BobcCommand() {}

    @Override
    public Integer call() {
        spec.commandLine().usage(System.out);
        return 0;
    }

    public static void main(String[] arguments) {
        int status = run(arguments);
        if (System.out.checkError() && status == 0) {
            System.err.println("bobc: the output cannot be written");
            status = 1;
        }
        System.exit(status);
    }

    static int run(String... arguments) {
        CommandLine line = new CommandLine(new BobcCommand());
        line.setExecutionExceptionHandler((thrown, command, result) -> {
            if (thrown instanceof IllegalArgumentException || thrown instanceof RunFailed) {
                command.getErr().println("bobc: " + thrown.getMessage());
                return thrown instanceof RunFailed ? 1 : 2;
            }
            throw thrown;
        });
        line.setParameterExceptionHandler((wrong, given) -> {
            CommandLine command = wrong.getCommandLine();
            command.getErr().println("bobc: " + wrong.getMessage());
            if (!CommandLine.UnmatchedArgumentException.printSuggestions(wrong, command.getErr())) {
                command.getErr()
                        .println("`" + command.getCommandSpec().qualifiedName() + " --help` says what there is");
            }
            return 2;
        });
        return line.execute(arguments);
    }

    /** Populates, runs and checks a peer in a JVM of its own. */
    static Report single(PeerKind kind, String heap, List<String> options, Consumer<String> others)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("single", kind.toString()));
        arguments.addAll(options);
        try (Jvm jvm = new Jvm(kind, heap, List.of(), arguments, List.of())) {
            return Report.of(jvm.figures(others));
        }
    }

    @Command(name = "run", description = "Populate, run, check; print what was measured.")
    static final class Run implements Callable<Integer> {
        @Parameters(index = "0", description = "${COMPLETION-CANDIDATES}")
        private PeerKind kind;
        @Mixin
        private Setup setup;

        @Override
        public Integer call() throws Exception {
            setup.validate(kind);
            Report report = single(kind, setup.heap, setup.arguments(), System.out::println);
            report.lines(setup.survives(kind)).forEach(System.out::println);
            System.out.printf("%-26s %s%n", "consistency conditions", "hold");
            return 0;
        }
    }

    @Command(name = "compare", description = "Run peers in turn, each in a JVM of its own, several rounds; "
            + "print medians and ratios, grouped by what a commit survives.")
    static final class Compare implements Callable<Integer> {
        @Parameters(arity = "1..*", description = "${COMPLETION-CANDIDATES}; ratios are to the first")
        private List<PeerKind> kinds;
        @Mixin
        private Setup setup;
        @Option(names = "--rounds", description = "(default: ${DEFAULT-VALUE})", defaultValue = "3")
        private int rounds;

        @Override
        public Integer call() throws Exception {
            for (PeerKind kind : kinds) {
                setup.validate(kind);
            }
            Map<PeerKind, List<Report>> reports = new LinkedHashMap<>();
            for (int round = 0; round < rounds; round++) {
                for (PeerKind kind : kinds) {
                    reports.computeIfAbsent(kind, key -> new ArrayList<>())
                            .add(single(kind, setup.heap, setup.arguments(), System.err::println));
                }
            }
            System.out.print(new PeerTable(reports, kinds.getFirst()));
            if (setup.isInMemory()) {
                System.out.println("The data were in " + setup.directory
                        + ", which is memory: nothing there survives a stop of the machine.");
            }
            return 0;
        }
    }

    @Command(name = "storage", description = "Populate one warehouse of SAS objects; print the storage that it "
            + "takes, and the paper's figures.")
    static final class Storage implements Callable<Integer> {
        @Option(names = "--scale", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})",
                defaultValue = "FULL")
        private Scale scale;
        @Option(names = "--directory", description = "(default: ${DEFAULT-VALUE})", defaultValue = "/dev/shm")
        private Path directory;
        @Option(names = "--letters", description = "${COMPLETION-CANDIDATES} of all strings: "
                + "GREEK takes two bytes each (default: ${DEFAULT-VALUE})", defaultValue = "LATIN")
        private Draw.Letters letters;

        @Override
        public Integer call() throws Exception {
            Scratch.requireParent(directory);
            sheet(scale, directory, letters, System.out::println);
            return 0;
        }

        static Figures sheet(Scale scale, Path directory, Draw.Letters letters, Consumer<String> lines)
                throws IOException, InterruptedException {
            List<String> arguments =
                    List.of("sheet", "--scale=" + scale, "--directory=" + directory, "--letters=" + letters);
            try (Jvm jvm = new Jvm(PeerKind.SAS, null, List.of(), arguments, List.of())) {
                return jvm.figures(lines);
            }
        }
    }

    @Command(name = "overcommit", description = "Run SAS with a page pool on disk and less memory than data, in a "
            + "control group, with the specified mix.")
    static final class Overcommit implements Callable<Integer> {
        @Mixin
        private Setup setup;
        @Option(names = "--shares", split = ",", description = "of the data's size, that the page cache may take; "
                + "0 for no limit (default: ${DEFAULT-VALUE})", defaultValue = "0,1,0.5,0.25")
        private List<Double> shares;
        @Option(names = "--charge", description = "${COMPLETION-CANDIDATES}: who pays for cached pages of the log and "
                + "the containers' files (default: ${DEFAULT-VALUE})", defaultValue = "GROUP")
        private OverCommit.Charge charge;

        @Override
        public Integer call() throws Exception {
            setup.validate(PeerKind.SAS);
            List<Figures> runs = new ArrayList<>();
            for (double share : shares) {
                runs.add(new OverCommit(setup, share, charge).run());
            }
            System.out.print(OverCommit.table(runs));
            return 0;
        }
    }
}
