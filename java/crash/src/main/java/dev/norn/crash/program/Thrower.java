package dev.norn.crash.program;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A child JVM in which every point inside every latched section throws, one after the other: at its first reach a StackOverflowError, at its second an OutOfMemoryError, at its third an unchecked
 * exception. After each, no latch may be kept, and the transactions of this JVM have to go on. Arguments: the store, the directory of the side files, and the file with the steps'
 * numbers: those at which sections begin in the first line, those at which they end in the second.
 */
public final class Thrower {
    private static final int PROCESS = 99;
    /** Transactions in which the points are found, and after which a point that was not reached again is given up. */
    private static final int LEARNING = 600;
    private static final int PATIENCE = 50;
    private static final int GOING_ON = 3;
    private static final List<Supplier<Throwable>> THROWABLES = List.of(() -> new StackOverflowError("thrown at a step"), () -> new OutOfMemoryError("thrown at a step"),
            () -> new IllegalStateException("thrown at a step"));

    private final Attachment attachment;
    private final Path store;
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
        List<String> lines = Files.readAllLines(Path.of(arguments[2]));
        LatchedSections sections = new LatchedSections(steps(lines.get(0)), steps(lines.get(1)));
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
        for (int i = 0; i < LEARNING; i++) {
            worker.attempt(next++);
        }
        Map<Integer, Integer> points = new TreeMap<>(sections.points());
        for (int point : points.keySet()) {
            System.out.println("at " + point);
            for (int count = 1; count <= Math.min(THROWABLES.size(), points.get(point)); count++) {
                throwAt(point, count, PATIENCE + 2 * LEARNING * count / points.get(point));
            }
        }
        System.out.println("thrown " + thrown + " times at " + points.size() + " points");
    }

    private void throwAt(int point, int count, int patience) throws IOException {
        Supplier<Throwable> throwable = THROWABLES.get(count - 1);
        sections.arm(point, count, throwable);
        for (int i = 0; i < patience && !sections.hasThrown(); i++) {
            worker.attempt(next++);
        }
        sections.disarm();
        if (sections.hasThrown()) {
            thrown++;
            Map<Long, Long> kept = LatchWords.kept(store.resolve("pool"));
            if (!kept.isEmpty()) {
                System.out.println("finding " + point + " " + throwable.get().getClass().getSimpleName() + " keeps the latches at " + kept.keySet());
            }
            for (int i = 0; i < GOING_ON; i++) {
                worker.attempt(next++);
            }
        }
    }
}
