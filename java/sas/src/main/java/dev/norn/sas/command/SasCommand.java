package dev.norn.sas.command;

import dev.norn.sas.Store;
import dev.norn.sas.agent.ClassTree;
import dev.norn.sas.agent.Transformation;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.inspect.Inspection;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.PrivateCopy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine;

/**
 * {@code sas}: looks into stores and after them. Works beside programs that use the store. Ends with 1 if something is
 * wrong, with 2 for wrong arguments.
 */
@Command(name = "sas", mixinStandardHelpOptions = true, scope = CommandLine.ScopeType.INHERIT,
        versionProvider = Version.class, description = "Java objects in a persistent store.",
        subcommands = {SasCommand.Create.class, SasCommand.Ls.class, SasCommand.Show.class, SasCommand.Stat.class,
                SasCommand.Check.class, DestroysCommand.class, SasCommand.Recover.class, SasCommand.Backup.class,
                ConvertCommand.class, ServerCommand.class, GroupCommands.Found.class, GroupCommands.Join.class,
                GroupCommands.Remove.class, GroupCommands.Status.class, GroupCommands.OutcomeOf.class,
                SasCommand.Transform.class, CommandLine.HelpCommand.class})
public final class SasCommand {
    private SasCommand() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    /** Runs the command; returns its status. */
    public static int run(String... arguments) {
        CommandLine line = new CommandLine(new SasCommand());
        line.setExecutionExceptionHandler((thrown, command, result) -> {
            if (thrown instanceof SASException) {
                command.getErr().println("sas: " + thrown.getMessage());
                return 1;
            }
            if (thrown instanceof IOException file) {
                command.getErr().println("sas: " + StoreFiles.reason(file));
                return 1;
            }
            throw thrown;
        });
        return line.execute(arguments);
    }

    /** What every subcommand has: the store. */
    abstract static class OnStore implements Callable<Integer> {
        @Parameters(index = "0", paramLabel = "STORE", description = "directory of the store")
        private Path directory;

        @CommandLine.Spec
        private CommandLine.Model.CommandSpec spec;

        Path directory() {
            if (directory.toString().isEmpty()) {
                throw new CommandLine.ParameterException(spec.commandLine(),
                        "STORE is empty: write the directory of the store, . for this one");
            }
            return directory;
        }

        void print(String text) {
            spec.commandLine().getOut().println(text);
            spec.commandLine().getOut().flush();
        }

        @Override
        public Integer call() throws Exception {
            try (Store store = Store.open(directory)) {
                return run(store);
            }
        }

        abstract int run(Store store) throws Exception;
    }

    @Command(name = "create", description = "Make a store with the container main.")
    static final class Create extends OnStore {
        @Option(names = "--main-bytes", paramLabel = "BYTES", converter = Bytes.class, defaultValue = "8G",
                description = "maximum size of main; K, M, G and T are powers of 1,024 (default: ${DEFAULT-VALUE})")
        private long mainBytes;
        @Option(names = "--log-bytes", paramLabel = "BYTES", converter = Bytes.class, defaultValue = "64M",
                description = "length of the redo log (default: ${DEFAULT-VALUE})")
        private long logBytes;
        @Option(names = "--pool",
                description = "file of the page pool, for example in /dev/shm (default: in the store)")
        private String pool;

        @Override
        public Integer call() {
            var options = Store.Options.defaults().withMainBytes(mainBytes).withLogBytes(logBytes).withPool(pool);
            Store.create(directory(), options).close();
            return 0;
        }

        @Override
        int run(Store store) {
            return 0;
        }
    }

    @Command(name = "ls", description = "List containers, roots and classes.")
    static final class Ls extends OnStore {
        @Override
        int run(Store store) {
            Inspection.list(store.attached()).forEach(this::print);
            return 0;
        }
    }

    @Command(name = "show", description = "Show an object's fields.")
    static final class Show extends OnStore {
        @Parameters(index = "1", paramLabel = "OBJECT", description = "a root's name, or an address in hexadecimal")
        private String object;

        @Override
        int run(Store store) {
            Inspection.show(store.attached(), object).forEach(this::print);
            return 0;
        }
    }

    @Command(name = "stat", description = "Show counts of the store's operations since its pool was created.")
    static final class Stat extends OnStore {
        @Override
        int run(Store store) {
            Inspection.stat(store.attached()).forEach(this::print);
            return 0;
        }
    }

    @Command(name = "check", description = "Check every invariant, and find references to destroyed objects. While "
            + "other programs use the store, a copy of it is checked.")
    static final class Check extends OnStore {
        @Override
        public Integer call() throws Exception {
            final PrivateCopy copy;
            try (Store store = Store.open(directory())) {
                List<String> findings = Inspection.check(store.attached(), this::print);
                if (findings != null) {
                    return report(findings);
                }
                copy = PrivateCopy.of(store.attached());
            }
            print("other programs use the store: this is of a copy of what they have committed");
            try (copy; Store store = Store.open(copy.directory())) {
                return report(Inspection.check(store.attached(), this::print));
            }
        }

        private int report(List<String> findings) {
            findings.forEach(this::print);
            return findings.isEmpty() ? 0 : 1;
        }

        @Override
        int run(Store store) {
            return 0;
        }
    }

    @Command(name = "recover", description = "Roll back transactions of dead programs, and bring the containers' "
            + "files up to date.")
    static final class Recover extends OnStore {
        @Option(names = "--accept-loss", description = "continue with what was committed before the damaged place of "
                + "the log; the log is kept in redo.lost-N, and the loss is reported")
        private boolean acceptLoss;

        @Override
        public Integer call() throws Exception {
            if (!acceptLoss) {
                return super.call();
            }
            StoreFiles.requireComplete(directory().toAbsolutePath());
            List<String> losses = AttachedStore.recover(directory().toAbsolutePath());
            (losses.isEmpty() ? List.of("nothing is lost") : losses).forEach(this::print);
            return 0;
        }

        @Override
        int run(Store store) {
            store.attached().checkpoint();
            return 0;
        }
    }

    @Command(name = "backup",
            description = "Copy a store, also while it is used: as of one moment, all committed transactions.")
    static final class Backup extends OnStore {
        @Parameters(index = "1", paramLabel = "COPY", description = "a new directory")
        private Path copy;

        @Override
        int run(Store store) throws Exception {
            store.attached().backup(copy.toAbsolutePath());
            return 0;
        }
    }

    @Command(name = "transform",
            description = "Transform a directory of class files in place, so that they need no agent.")
    static final class Transform implements Callable<Integer> {
        @Parameters(index = "0", paramLabel = "DIRECTORY", description = "where the class files are")
        private Path directory;
        @Option(names = "--packages", split = ",", description = "packages whose classes are to be transformed, "
                + "and those below them (the collections of SAS always are)")
        private List<String> packages = List.of();
        @Option(names = "--class-path", split = ":",
                description = "directories and jars with the classes that these extend and use")
        private List<Path> classPath = List.of();

        @CommandLine.Spec
        private CommandLine.Model.CommandSpec spec;

        @Override
        public Integer call() throws Exception {
            requirePackages();
            ClassTree.Result result = new ClassTree(directory, classPath).transform(packages);
            if (!result.isOfAnyUse()) {
                throw new SASException(result.complaint(directory, packages));
            }
            spec.commandLine().getOut().println(result);
            result.refusals().forEach((type, reason) -> spec.commandLine().getErr().println("sas: instances of " + type
                    + " cannot be persistent: " + reason));
            return result.refusals().isEmpty() ? 0 : 1;
        }

        private void requirePackages() {
            try {
                new Transformation(packages);
            } catch (IllegalArgumentException e) {
                throw new CommandLine.ParameterException(spec.commandLine(), "--packages: " + e.getMessage());
            }
        }
    }
}
