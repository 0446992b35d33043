package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command, as it is called from a shell: in a JVM of its own that has none of the program's classes. */
class CommandTest {
    @TempDir
    Path directory;

    private static String sas(int status, Object... arguments) throws Exception {
        var command = new java.util.ArrayList<>(java.util.List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-jar",
                System.getProperty("sas.jar")));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(status, process.waitFor(), output);
        return output;
    }

    @Test
    void aServerTendsTheStoreAndIsTheOnlyOne() throws Exception {
        Path at = directory.resolve("store");
        sas(0, "create", at, "--log-bytes", 1 << 20);
        Process server = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-jar", System.getProperty("sas.jar"), "server", at.toString())
                .redirectErrorStream(true).start();
        try (Store store = Store.open(at)) {
            assertTrue(server.inputReader().readLine().contains("process " + server.pid() + " serves"));
            assertTrue(sas(1, "server", at).contains("process " + server.pid() + " serves " + at + " already"));
            Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 7, "Ann");
            store.setRoot("ann", ann);
            Stores.start(BankProgram.class, at, "die in ann").waitFor();
            long start = System.nanoTime();
            while (store.pool().openTransactions() > 0 && System.nanoTime() - start < 20_000_000_000L) {
                Thread.sleep(10);
            }
            assertEquals(0, store.pool().openTransactions(), "nobody waits for the dead program's locks, and they are given back");
            long before = store.pool().counts().checkpoints();
            while (store.pool().logBytesUsed() < 200_000 && store.pool().counts().checkpoints() == before) {
                ann.rename("x".repeat(400));
            }
            for (int i = 0; i < 400 && store.pool().counts().checkpoints() == before; i++) {
                Thread.sleep(50);
            }
            assertTrue(store.pool().counts().checkpoints() > before, "the server replays before this program has to");
        }
        server.toHandle().destroy();
        assertEquals(143, server.waitFor());
        assertTrue(server.inputReader().readLine().contains("brought up to date"));
        try (Store store = Store.open(at)) {
            assertEquals("x".repeat(400), store.root("ann", Account.class).owner());
            Stores.check(store);
        }
        assertTrue(sas(1, "server", directory.resolve("nothing")).contains("is no store"));
        assertTrue(sas(1, "server", at, "--share", 2).contains("--share is 2.0"));
    }

    @Test
    void aStoreIsMadeShownCheckedAndBackedUp() throws Exception {
        Path at = directory.resolve("store");
        assertEquals("", sas(0, "create", at, "--log-bytes", 1 << 20));
        Account ann;
        try (Store store = Store.open(at)) {
            ann = Factory.newInstanceIn(Account.class, store.container("main"), 7, "Ann with a long name");
            ann.link(ann);
            store.setRoot("ann", ann);
            String list = sas(0, "ls", at);
            assertTrue(list.contains("root      ann") && list.contains("Account") && list.contains("container main"), list);
            String shown = sas(0, "show", at, "ann");
            assertTrue(shown.contains("Account.owner = \"Ann with a long name\"") && shown.contains("Account.number = 7"), shown);
            assertTrue(sas(0, "stat", at).contains("attached processes   2"));
            sas(0, "backup", at, directory.resolve("copy"));
            ann.rename("changed after the backup");
            assertTrue(sas(0, "check", at).contains("0 findings"));
            Transaction.begin();
            ann.rename("not committed yet");
            String locked = sas(1, "check", at);
            assertTrue(locked.contains("1 other process is attached") && locked.contains("end it first"), locked);
            Transaction.abort();
            assertTrue(sas(1, "show", at, "bob").contains("no root bob"));
        }
        sas(0, "recover", at);
        try (Store store = Store.open(directory.resolve("copy"))) {
            assertEquals("Ann with a long name", store.root("ann", Account.class).owner());
        }
        assertTrue(sas(1, "ls", directory).contains("is no store"));
        assertTrue(sas(1, "backup", at, directory.resolve("copy")).contains("copy is there already"));
        assertTrue(sas(1, "create", directory.resolve("bad"), "--main-bytes", -5).contains("would hold -5 bytes"));
        assertEquals("", sas(0, "create", directory.resolve("bad")), "what could not be completed is not there");
        Files.delete(directory.resolve("bad/store.properties"));
        assertTrue(sas(1, "create", directory.resolve("bad")).contains("has no store.properties, but"));
        assertTrue(sas(1, "transform", directory.resolve("nowhere")).contains("nowhere is not there"));
        assertTrue(sas(1, "transform", directory).contains("no class in " + directory + " is of a package that was named (--packages com.acme); it has no classes"));
        Path tree = Files.createDirectories(directory.resolve("tree/org/example"));
        Path compiled = Path.of(CommandTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Files.copy(compiled.resolve("dev/norn/sas/example/Account.class"), tree.resolve("Account.class"));
        assertTrue(sas(1, "transform", directory.resolve("tree"), "--packages", "com.acme").contains("is of com.acme; it has classes of org.example"));
        assertEquals("1 class transformed\n", sas(0, "transform", directory.resolve("tree"), "--packages", "org.example"));
        assertEquals("0 classes transformed, 1 transformed already\n", sas(0, "transform", directory.resolve("tree"), "--packages", "org.example"));
        sas(2, "nonsense");
        assertTrue(sas(0, "help", "convert").contains("Usage: sas convert"));
        assertTrue(sas(0, "-V").matches("Norn SAS \\d+\\.\\d+\\.\\d+\\S*, Java 25.*\n"));
        assertTrue(sas(0, "show", "--help").contains("Usage: sas show"));
        Path damaged = Stores.withoutPool(at, directory.resolve("damaged"));
        Files.writeString(damaged.resolve("store.properties"), "format=9\n");
        assertTrue(sas(1, "ls", damaged).contains("format 9 is not 1"));
    }
}
