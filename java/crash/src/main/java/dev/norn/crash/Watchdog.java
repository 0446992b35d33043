package dev.norn.crash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reports calls that wait forever: after a number of seconds without an answer, the stacks of all living children and
 * the store's words.
 */
final class Watchdog {
    private static final Pattern THREAD = Pattern.compile("(?m)^\".*\n(?:[ \t].*\n)+");

    private final int seconds;
    private final Path jcmd;
    private final Supplier<List<Child>> children;
    private final Path store;

    Watchdog(int seconds, Path jcmd, Supplier<List<Child>> children, Path store) {
        this.seconds = seconds;
        this.jcmd = jcmd;
        this.children = children;
        this.store = store;
    }

    int seconds() {
        return seconds;
    }

    Finding bark(String what) {
        List<String> parts = new ArrayList<>(List.of(what + " for " + seconds + " s"));
        parts.add(StoreWords.describe(store.resolve("pool")));
        for (Child child : children.get()) {
            if (child.isAlive()) {
                parts.add(child.name() + ", process " + child.pid() + ":\n" + stacks(child));
            }
        }
        return new Finding(String.join("\n", parts));
    }

    private String stacks(Child child) {
        try {
            Process process = new ProcessBuilder(jcmd.toString(), "" + child.pid(), "Thread.print")
                    .redirectErrorStream(true).start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            // The threads that may use the store; the others are the JVM's.
            return THREAD.matcher(text).results().map(MatchResult::group)
                    .filter(thread -> thread.contains("dev.norn.")).collect(Collectors.joining("\n"));
        } catch (IOException e) {
            return "no stacks: " + e.getMessage();
        }
    }
}
