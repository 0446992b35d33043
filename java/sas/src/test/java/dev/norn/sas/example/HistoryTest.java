package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random transactions of two JVMs with two threads each, of which one is killed at a random moment and replaced, again
 * and again: the whole history is strictly serializable, what was said to be committed is there, and the checker of the
 * store finds nothing. More kills with {@code -Dsas.kills=N}.
 */
class HistoryTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);
    private static final int KILLS = Integer.getInteger("sas.kills", 4);

    @TempDir
    Path directory;
    private int processes;

    private Process start(Path at) throws Exception {
        Process process =
                Stores.start(HistoryProgram.class, at, directory.resolve("history" + processes), processes, 2, SEED);
        processes++;
        assertEquals("ready", new BufferedReader(new InputStreamReader(process.getInputStream())).readLine());
        return process;
    }

    private static void kill(Process process) throws InterruptedException {
        process.toHandle().destroyForcibly();
        process.waitFor();
    }

    @Test
    void randomHistoriesOfTwoJvmsAreStrictlySerializable() throws Exception {
        Path at = directory.resolve("store");
        Store store = Store.create(at, Stores.SMALL);
        for (int i = 0; i < HistoryProgram.REGISTERS; i++) {
            store.setRoot("register " + i, Factory.newInstanceIn(Register.class, store.container("main")));
        }
        store.close();
        Random random = new Random(SEED);
        Process[] running = {start(at), start(at)};
        try {
            for (int round = 0; round < KILLS; round++) {
                Thread.sleep(50 + random.nextInt(500));
                int which = random.nextInt(2);
                kill(running[which]);
                running[which] = start(at);
            }
            Thread.sleep(200);
        } finally {
            kill(running[0]);
            kill(running[1]);
        }
        store = Store.open(at);
        try {
            verify(store);
        } finally {
            store.close();
        }
    }

    private void verify(Store store) throws Exception {
        History history = new History(HistoryProgram.REGISTERS);
        for (int i = 0; i < HistoryProgram.REGISTERS; i++) {
            Register register = store.root("register " + i, Register.class);
            history.addChain(i, Transaction.call(register::writers));
        }
        try (var files = Files.list(directory)) {
            for (Path file : files.filter(path -> path.getFileName().toString().startsWith("history")).toList()) {
                Files.readAllLines(file).forEach(history::add);
            }
        }
        assertEquals(List.of(), history.check(), "seed " + SEED);
        assertTrue(history.transactions() > 100 * KILLS, history.transactions() + " transactions");
        Stores.check(store);
    }

    @Test
    void theCheckerNoticesWhatMustNotBe() {
        assertEquals(List.of(), check("invoke 1 10", "done 1 10 20 0:0:w", "invoke 2 30", "done 2 30 40 0:1,0:r"));
        assertFalse(check("invoke 1 10", "done 1 10 20 0:0:w", "invoke 2 10", "done 2 10 20 0:0:w").isEmpty(),
                "a lost update");
        assertFalse(check("invoke 1 10", "done 1 10 20 0:0:w", "invoke 2 30", "done 2 30 40 0:0:r").isEmpty(),
                "a stale read");
        assertFalse(check("invoke 1 10", "invoke 2 10", "done 1 10 20 0:0:r 1:0:w", "done 2 10 20 1:0:r 0:0:w")
                .isEmpty(), "write skew");
        assertFalse(check("invoke 1 10", "done 1 10 20 0:7:r").isEmpty(), "a dirty read");
    }

    private static List<String> check(String... lines) {
        History history = new History(2);
        List.of(lines).forEach(line -> history.add(line + HistoryProgram.END));
        return history.check();
    }
}
