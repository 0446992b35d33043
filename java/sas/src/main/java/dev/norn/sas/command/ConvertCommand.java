package dev.norn.sas.command;

import dev.norn.sas.Store;
import dev.norn.sas.exception.SASException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine;

/** {@code sas convert}: a store for classes that have changed. */
@Command(name = "convert", description = {"Make a copy of a store in which instances of changed classes have the "
        + "layout of the class files.",
    "The store may be in use: the copy has all transactions that were committed when the conversion began."})
final class ConvertCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "STORE", description = "directory of the store, which is not changed")
    private Path from;
    @Parameters(index = "1", paramLabel = "NEW", description = "a new directory; NEW.new is used meanwhile")
    private Path to;
    @Option(names = "--class-path", split = ":", required = true,
            description = "directories and jars with the classes as they are now")
    private List<Path> classPath;
    @Option(names = "--drop", split = ",",
            description = "removed fields whose values may be lost, as com.acme.Customer.note")
    private Set<String> dropped = Set.of();

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        URL[] urls = new URL[classPath.size()];
        for (int i = 0; i < urls.length; i++) {
            if (!Files.exists(classPath.get(i))) {
                throw new SASException("the class path names " + classPath.get(i) + ", which does not exist");
            }
            urls[i] = classPath.get(i).toUri().toURL();
        }
        try (URLClassLoader loader = new URLClassLoader(urls, ConvertCommand.class.getClassLoader())) {
            Store.convert(from, to, loader, dropped).forEach(spec.commandLine().getOut()::println);
            spec.commandLine().getOut().println(to + " is made; " + from + " is as it was. Check " + to
                    + " with the new program; then, when nothing uses either, move " + from + " away and " + to + " to "
                    + "its place. What was committed in " + from + " since the conversion began is not in " + to + ".");
        }
        return 0;
    }
}
