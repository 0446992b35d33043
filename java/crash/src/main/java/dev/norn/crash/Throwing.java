package dev.norn.crash;

import dev.norn.crash.history.History;
import dev.norn.crash.history.Snapshot;
import dev.norn.crash.program.Assignment;
import dev.norn.crash.steps.ProgramJar.Variant;
import dev.norn.crash.steps.StepTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One JVM throws at every point inside every latched section, another one works on the same store: both continue, no
 * latch is kept, and what was acknowledged is there.
 */
final class Throwing {
    /**
     * The calls that run a section while a latch is held, and the one that gives the latch back when the section
     * throws.
     */
    private static final List<String> SECTIONS =
            List.of("Latch.hold>Latch$Section.run#1", "Latch.tryHold>Latch$Section.run#1");
    private static final List<String> GIVINGS_BACK =
            List.of("Latch.hold>Latch.giveBack#1", "Latch.tryHold>Latch.giveBack#1");
    private static final int LOG_BYTES = 1 << 16;
    private static final int LOCK_TIMEOUT_MILLIS = 2000;
    /** The other JVM shows that it continues, and must not make the store large. */
    private static final int PAUSE_MILLIS = 20;

    private final Children children;
    private final Inspectors inspectors;
    private final Path directory;
    private final int throwsAtEach;
    private final Path store;
    private final Path journals;
    private final Watchdog watchdog;
    private final List<Child> living = new ArrayList<>();

    private Throwing(Children children, Inspectors inspectors, Path directory, int throwsAtEach, int watchdogSeconds) {
        this.throwsAtEach = throwsAtEach;
        this.children = children;
        this.inspectors = inspectors;
        this.directory = directory;
        store = directory.resolve("store");
        journals = directory.resolve("journals");
        watchdog = new Watchdog(watchdogSeconds, children.jcmd(), () -> living, store);
    }

    /** What must not be, and how many points there were. */
    record Result(List<String> findings, String summary) {
        @Override
        public String toString() {
            return "latched sections: " + summary
                    + (findings.isEmpty() ? ", nothing found" : "; FOUND SOMETHING\n" + String.join("\n", findings));
        }
    }

    /** Each point throws {@code throwsAtEach} times, each time something else. */
    static Result run(Children children, int throwsAtEach, int watchdogSeconds)
            throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory(Campaign.base(), "norn-crash-");
        try (Inspectors inspectors = new Inspectors(children, directory)) {
            return new Throwing(children, inspectors, directory, throwsAtEach, watchdogSeconds).run();
        } finally {
            Trees.delete(directory);
        }
    }

    private Result run() throws IOException, InterruptedException {
        Files.createDirectories(journals);
        Path steps = directory.resolve("sections");
        List<String> findings = new ArrayList<>();
        Files.write(steps, List.of(numbers(SECTIONS, " before"),
                numbers(SECTIONS, " after") + " " + numbers(GIVINGS_BACK, " before")));
        try {
            inspectors.ask(watchdog, Variant.NARROW, "create", store, false, LOG_BYTES, LOCK_TIMEOUT_MILLIS);
            Child other = start("other", Children.PROGRAM,
                    new Assignment(store, journals, 1, 1, PAUSE_MILLIS, 1, Set.of(), List.of()).encode());
            Child thrower = start("thrower", Children.THROWER,
                    List.of(store.toString(), journals.toString(), "" + throwsAtEach, steps.toString()));
            String summary = listen(thrower, findings);
            other.say("stop\n");
            if (!"stopped".equals(other.line(watchdog))) {
                findings.add("the other JVM: " + other.errors());
            }
            findings.addAll(verify());
            return new Result(findings, summary);
        } catch (Finding e) {
            findings.add(e.getMessage());
            return new Result(findings, "");
        } finally {
            for (Child child : living) {
                child.kill();
            }
        }
    }

    private Child start(String name, String program, List<String> arguments) throws IOException, InterruptedException {
        Child child = children.start(name, Variant.NARROW, program, arguments, directory.resolve(name + ".err"));
        living.add(child);
        if (!"ready".equals(child.line(watchdog))) {
            throw new Finding(name + ": " + child.errors());
        }
        return child;
    }

    /** The numbers of the steps before or after these calls. */
    private String numbers(List<String> calls, String side) {
        return calls.stream().map(call -> "" + StepTable.number(children.jar().sites(), call + side))
                .collect(Collectors.joining(" "));
    }

    private String listen(Child thrower, List<String> findings) throws IOException, InterruptedException {
        String last = "";
        for (String line = thrower.line(watchdog); line != null; line = thrower.line(watchdog)) {
            if (line.startsWith("thrown ")) {
                return line;
            } else if (line.startsWith("finding ")) {
                findings.add(describe(line.substring("finding ".length())));
            }
            last = line;
        }
        findings.add("the JVM that throws ended with status " + thrower.exit() + " after "
                + describe(last.replace("at ", "")) + ": " + thrower.errors());
        return "";
    }

    /** A point's number and the rest, with the place of the point. */
    private String describe(String line) {
        int end = line.indexOf(' ') < 0 ? line.length() : line.indexOf(' ');
        return children.jar().sites().get(Integer.parseInt(line.substring(0, end))) + line.substring(end);
    }

    private List<String> verify() throws IOException, InterruptedException {
        Path out = directory.resolve("ids");
        String answer = inspectors.ask(watchdog, Variant.NARROW, "snapshot", store, out);
        if (!answer.startsWith("ok")) {
            return List.of("opening the store: " + answer);
        }
        History history = History.read(journals);
        List<String> findings = new ArrayList<>(history.failures());
        findings.addAll(history.check(Snapshot.read("the end", out), List.of()));
        String check = inspectors.ask(watchdog, Variant.NARROW, "sas", "check", store);
        if (!check.startsWith("ok")) {
            findings.add("sas check: " + check);
        }
        return findings;
    }
}
