package dev.norn.crash;

import dev.norn.crash.program.Assignment;
import dev.norn.crash.program.Hazard;
import dev.norn.crash.steps.ProgramJar;
import dev.norn.crash.steps.ProgramJar.Variant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Runs before the first round, once for each build: some JVMs from which the others learn their classes, so that they
 * start quickly, and which count how often each step is reached, so that kills are armed at steps that are reached.
 */
final class Training {
    /** What a JVM does in which steps are counted. */
    enum Role { WORK, BACKUP, CONVERSION }

    private static final int WORK_MILLIS = 1500;
    /** What is worked at least, also where the machine is slow: some dozens of transactions. */
    private static final int WORK_BYTES = 4000;
    private static final int WATCHDOG_SECONDS = 120;

    private final Children children;
    private final Path directory;
    private final Path store;
    private final Path journals;
    private final Watchdog watchdog;
    private final Map<Role, int[]> counts = new EnumMap<>(Role.class);

    Training(Children children) {
        this.children = children;
        directory = children.jar().directory().resolve("training");
        store = directory.resolve("store");
        journals = directory.resolve("journals");
        watchdog = new Watchdog(WATCHDOG_SECONDS, children.jcmd(), List::of, store);
    }

    /** How often each step was reached in the JVMs of each role, by their numbers. */
    Map<Role, int[]> run() throws IOException, InterruptedException {
        for (Role role : Role.values()) {
            counts.put(role, new int[children.jar().sites().size()]);
        }
        Trees.delete(directory);
        Files.createDirectories(journals);
        for (Variant variant : Variant.values()) {
            Path its = directory.resolve("store-" + variant);
            inspect(null, variant, List.of("-XX:AOTCacheOutput=" + children.jar().cache(variant)),
                    "create\t" + its + "\ttrue\t65536\t2000", "work\t" + its + "\t" + journals,
                    "snapshot\t" + its + "\t" + directory.resolve("ids"), "sas\tcheck\t" + its);
        }
        Path copy = directory.resolve("copy");
        inspect(null, Variant.NARROW, List.of(), "create\t" + store + "\ttrue\t65536\t2000");
        work();
        // One recovers what the last has left, and closes the store; the next makes a pool anew.
        inspect(Role.WORK, Variant.NARROW, List.of(), "snapshot\t" + store + "\t" + directory.resolve("ids"));
        Files.delete(store.resolve("pool"));
        inspect(Role.WORK, Variant.NARROW, List.of(), "snapshot\t" + store + "\t" + directory.resolve("ids"));
        work();
        inspect(Role.BACKUP, Variant.NARROW, List.of(), "sas\tbackup\t" + store + "\t" + copy);
        // Those that conversion changes are among them in any case.
        inspect(null, Variant.NARROW, List.of(), "classes\t" + store);
        inspect(Role.CONVERSION, Variant.WIDE, List.of(), "convert\t" + store + "\t" + directory.resolve("converted"));
        Trees.delete(directory);
        return counts;
    }

    private void inspect(Role role, Variant variant, List<String> options, String... tasks)
            throws IOException, InterruptedException {
        Path reached = directory.resolve("counts");
        List<String> all = new ArrayList<>(options);
        all.add("-Dcrash.counts=" + reached);
        Child child = new Child("training", children.command(variant, all, Children.INSPECTOR, List.of()),
                directory.resolve("training.err"));
        child.say(String.join("\n", tasks) + "\n");
        for (String task : tasks) {
            String answer = child.line(watchdog);
            if (answer == null || !answer.startsWith("ok")) {
                throw new Finding("the harness could not train: " + task.replace('\t', ' ') + ": " + answer
                        + " " + child.errors());
            }
        }
        end(role, child, reached);
    }

    /** Ends in the middle of transactions, so that the next one has something to recover. */
    private void work() throws IOException, InterruptedException {
        Path reached = directory.resolve("counts");
        Assignment assignment = new Assignment(store, journals, 1, 1, 0, 1, Set.of(Hazard.DEEP), List.of());
        Child child = new Child("training", children.command(Variant.NARROW, List.of("-Dcrash.counts=" + reached),
                Children.PROGRAM, assignment.encode()), directory.resolve("training.err"));
        if (!"ready".equals(child.line(watchdog))) {
            throw new Finding("the harness could not train: " + child.errors());
        }
        long before = Trees.bytes(journals);
        long start = System.nanoTime();
        while (System.nanoTime() - start < WORK_MILLIS * 1_000_000L || Trees.bytes(journals) - before < WORK_BYTES
                && System.nanoTime() - start < WATCHDOG_SECONDS * 1_000_000_000L) {
            Thread.sleep(50);
        }
        end(Role.WORK, child, reached);
    }

    private void end(Role role, Child child, Path reached) throws IOException, InterruptedException {
        child.endInput();
        if (child.exit() != 0) {
            throw new Finding("the harness could not train: a JVM ended with status " + child.exit()
                    + ": " + child.errors());
        }
        List<String> lines = Files.readAllLines(reached);
        for (int site = 0; role != null && site < counts.get(role).length; site++) {
            counts.get(role)[site] += Integer.parseInt(lines.get(site));
        }
    }
}
