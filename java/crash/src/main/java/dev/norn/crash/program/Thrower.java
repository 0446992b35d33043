package dev.norn.crash.program;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A child JVM in which every point inside every latched section throws: a StackOverflowError, an OutOfMemoryError, or
 * an unchecked exception. After each throw, no latch may be kept, and the transactions of this JVM have to continue.
 * Arguments: the store, the directory of the side files, how often each point throws, and the file with the steps'
 * numbers: those at which sections begin in the first line, those at which they end in the second.
 */
public final class Thrower {
    private static final int PROCESS = 99;
    /** After this number of transactions without a new point, there are no others. */
    private static final int IDLE_MAX = 300;
    private static final int ATTEMPTS_BETWEEN_CHECKPOINTS = 8;
    private static final int POINTS_BETWEEN_WORDS = 50;

    private final Path store;
    private final Attachment attachment;
    private final Worker worker;
    private final LatchedSections sections;
    private long next;
    private int thrown;

    private Thrower(Path store, Path journals, LatchedSections sections) {
        this.store = store;
        this.sections = sections;
        Assignment assignment = new Assignment(store, journals, PROCESS, 1, 0, 1, Set.of(), List.of());
        attachment = new Attachment(store);
        worker = new Worker(assignment, attachment, 0);
        next = worker.first();
    }

    public static void main(String[] arguments) throws Exception {
        List<String> lines = Files.readAllLines(Path.of(arguments[3]));
        LatchedSections sections =
                new LatchedSections(steps(lines.get(0)), steps(lines.get(1)), Integer.parseInt(arguments[2]));
        Steps.throwIn(sections);
        System.out.println("ready");
        new Thrower(Path.of(arguments[0]), Path.of(arguments[1]), sections).run();
    }

    private static BitSet steps(String line) {
        BitSet steps = new BitSet();
        for (String word : line.split(" ")) {
            steps.set(Integer.parseInt(word));
        }
        return steps;
    }

    private void run() throws IOException {
        for (int idle = 0; idle < IDLE_MAX; idle++) {
            sections.allow();
            if (next % ATTEMPTS_BETWEEN_CHECKPOINTS == 0) {
                checkpoint();
            }
            worker.attempt(next++);
            Throwable its = sections.forbid();
            if (its != null) {
                idle = 0;
                look(its);
            }
        }
        System.out.println("thrown " + thrown + " times at " + sections.points() + " points");
    }

    private void checkpoint() {
        try {
            attachment.use().store().attached().checkpoint();
        } catch (Throwable e) {
            if (!sections.hasThrown(e)) {
                System.out.println("finding " + sections.point() + " a checkpoint later: " + e);
            }
        }
    }

    /** After a throw: no latch is kept, and the next transactions do what they would without it. */
    private void look(Throwable its) throws IOException {
        if (++thrown % POINTS_BETWEEN_WORDS == 1) {
            System.out.println("at " + sections.point());
        }
        Map<Long, Long> kept = LatchWords.kept(store.resolve("pool"));
        if (!kept.isEmpty()) {
            System.out.println("finding " + sections.point() + " " + its.getClass().getSimpleName()
                    + " keeps the latches at " + kept.keySet());
        }
        worker.attempt(next++);
    }
}
