package dev.norn.crash;

import dev.norn.crash.steps.ProgramJar.Variant;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The inspectors of a round, one for each variant of the classes. They live on from round to round, unless one was
 * killed.
 */
final class Inspectors implements AutoCloseable {
    private final Children children;
    private final Path directory;
    private final Map<Variant, Child> living = new EnumMap<>(Variant.class);

    Inspectors(Children children, Path directory) {
        this.children = children;
        this.directory = directory;
    }

    List<Child> living() {
        return List.copyOf(living.values());
    }

    /** Has a task done; its answer begins with {@code ok}, {@code refused} or {@code failed}. */
    String ask(Watchdog watchdog, Variant variant, Object... words) throws IOException, InterruptedException {
        Child child = living.get(variant);
        if (child == null || !child.isAlive()) {
            child = children.start("inspector " + variant, variant, Children.INSPECTOR, List.of(),
                    directory.resolve("inspector-" + variant + ".err"));
            living.put(variant, child);
        }
        child.say(String.join("\t", List.of(words).stream().map(Object::toString).toList()) + "\n");
        String answer = child.line(watchdog);
        if (answer == null) {
            throw new Finding("the inspector died at " + List.of(words) + " with status " + child.exit()
                    + ": " + child.errors());
        }
        return answer;
    }

    @Override
    public void close() throws InterruptedException {
        for (Child child : living.values()) {
            child.kill();
        }
        living.clear();
    }
}
