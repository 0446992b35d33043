package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Read-only transactions of several threads stay open while random transactions change everything: each of them sees
 * what was committed when it began, also in the middle of transactions, of nested runs, and of what is undone.
 */
class SnapshotModelTest {
    @TempDir
    Path directory;

    /** A thread in a read-only transaction that does what it is asked to. */
    private static final class Reader {
        final String expected;
        private final LinkedBlockingQueue<String> asked = new LinkedBlockingQueue<>();
        private final LinkedBlockingQueue<String> answers = new LinkedBlockingQueue<>();

        Reader(Pile pile, String expected) throws Exception {
            this.expected = expected;
            Background.run(() -> answer(pile));
            assertEquals("begun", answers.poll(60, TimeUnit.SECONDS));
        }

        private void answer(Pile pile) {
            String end = "ended";
            try {
                Transaction.read(() -> {
                    answers.add("begun");
                    for (String ask = asked.take(); !ask.isEmpty(); ask = asked.take()) {
                        answers.add(answer(pile, ask));
                    }
                    return null;
                });
            } catch (InterruptedException | RuntimeException | Error e) {
                end = "ended by " + e;
            }
            answers.add(end);
        }

        private static String answer(Pile pile, String ask) {
            try {
                return ask.equals("all") ? pile.describe() : pile.describe(Integer.parseInt(ask));
            } catch (RuntimeException | Error e) {
                java.io.StringWriter trace = new java.io.StringWriter();
                e.printStackTrace(new java.io.PrintWriter(trace));
                return trace.toString();
            }
        }

        String ask(String what) throws Exception {
            asked.put(what);
            String answer = answers.poll(60, TimeUnit.SECONDS);
            return answer == null ? "nothing for a minute" : answer;
        }

        /** What {@link Pile#describe(int)} has to return. */
        String expected(int at) {
            return expected.lines().filter(line -> line.startsWith(at + " ")).findFirst()
                    .map(line -> line.substring(line.indexOf(' ') + 1)).orElse("none");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    @Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void everySnapshotIsWhatWasCommittedWhenItBegan(long seed) throws Exception {
        Random random = new Random(seed);
        try (Store store = Store.create(directory.resolve("store"), Stores.SMALL)) {
            Pile pile = Factory.newInstanceIn(Pile.class, store.container(Store.MAIN));
            List<Reader> readers = new ArrayList<>();
            String committed = Transaction.call(pile::describe);
            for (int round = 0; round < 400; round++) {
                if (readers.size() < 5 && random.nextInt(3) == 0) {
                    readers.add(new Reader(pile, committed));
                }
                Transaction.begin();
                for (int steps = random.nextInt(6); steps >= 0; steps--) {
                    step(pile, random);
                    if (random.nextInt(3) == 0) {
                        askSome(readers, random, seed, round);
                    }
                }
                if (random.nextInt(4) == 0) {
                    Transaction.abort();
                } else {
                    String after = pile.describe();
                    Transaction.commit();
                    committed = after;
                }
                askSome(readers, random, seed, round);
                if (!readers.isEmpty() && random.nextInt(12) == 0) {
                    Reader one = readers.remove(random.nextInt(readers.size()));
                    assertEquals(one.expected, one.ask("all"), "seed " + seed + ", round " + round);
                    assertEquals("ended", one.ask(""));
                }
            }
            for (Reader one : readers) {
                assertEquals(one.expected, one.ask("all"), "seed " + seed);
                assertEquals("ended", one.ask(""));
            }
            assertEquals(committed, Transaction.read(pile::describe));
            assertTrue(Transaction.read(pile::steps) > 400);
            Stores.check(store);
        }
    }

    private static void step(Pile pile, Random random) {
        if (random.nextInt(5) > 0) {
            pile.step(random);
            return;
        }
        try {
            Transaction.run(() -> {
                pile.step(random);
                if (random.nextBoolean()) {
                    throw new IllegalStateException("taken back");
                }
            });
        } catch (IllegalStateException e) {
            // As it is to be.
        }
    }

    /** Of a reader, one crate or all: what it has read before it reads from its own copies. */
    private static void askSome(List<Reader> readers, Random random, long seed, int round) throws Exception {
        for (Reader one : readers) {
            String message = "seed " + seed + ", round " + round;
            if (random.nextInt(40) == 0) {
                assertEquals(one.expected, one.ask("all"), message);
            } else if (random.nextInt(2) == 0) {
                int at = random.nextInt(40);
                assertEquals(one.expected(at), one.ask(Integer.toString(at)), message);
            }
        }
    }
}
