package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.store.inspect.Audit;
import dev.norn.sas.store.memory.Copies;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Latch;
import dev.norn.sas.store.memory.TransactionSlot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Stores and JVMs for tests. */
final class Stores {
    static final Store.Options SMALL = Store.Options.defaults().withLogBytes(1 << 16);

    private Stores() {}

    /** Creates a store with two accounts, which are the roots ann and bob. */
    static Store createWithAccounts(Path at, Store.Options options) {
        Store store = Store.create(at, options);
        store.setRoot("ann", Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann"));
        store.setRoot("bob", Factory.newInstanceIn(Account.class, store.container("main"), 2, "Bob"));
        return store;
    }

    /**
     * Copies what is durable, as it would be found after the machine stopped: all but the pool. No transaction may
     * commit meanwhile, and no checkpoint may run: it marks the log before it changes the other files, and the copy
     * could be of the log without the mark and of a page without its check.
     */
    static Path withoutPool(Path store, Path copy) {
        try (var files = Files.list(store)) {
            Files.createDirectories(copy);
            Comparator<Path> logFirst = Comparator.comparing(file -> !file.endsWith("redo.log"));
            for (Path file : files.sorted(logFirst).toList()) {
                if (!file.getFileName().toString().equals("pool")) {
                    Copies.replace(file, copy.resolve(file.getFileName()));
                }
            }
            return copy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same of an open store that may be about to run a checkpoint: that waits, or is waited for. */
    static Path withoutPool(Store open, Path store, Path copy) {
        TransactionSlot slot = open.attached().slots().claim();
        try {
            Latch.hold(slot, Format.CHECKPOINT_LATCH, () -> withoutPool(store, copy).getNameCount());
        } finally {
            open.attached().slots().release(slot);
        }
        return copy;
    }

    /** Asserts that the checker finds nothing. */
    static void check(Store store) {
        assertEquals(List.of(), new Audit(store.attached()).run());
    }

    /** Starts a JVM with the agent; its standard error is ours. */
    static Process start(Class<?> program, Object... arguments) {
        return startBehind(List.of(), program, arguments);
    }

    /** The same by another command, which runs the one that follows it. */
    static Process startBehind(List<String> before, Class<?> program, Object... arguments) {
        try {
            return builder(before, program, arguments).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same, not started yet. */
    static ProcessBuilder builder(List<String> before, Class<?> program, Object... arguments) {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
                "-XX:TieredStopAtLevel=1", "-Xshare:auto", "--enable-native-access=ALL-UNNAMED",
                "-javaagent:" + System.getProperty("sas.jar") + "=packages=dev.norn.sas.example",
                "-cp", System.getProperty("java.class.path"), program.getName()));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return new ProcessBuilder(command);
    }
}
