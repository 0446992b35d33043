package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command, as it is called from a shell: in a JVM of its own that has none of the program's classes. */
class CommandTest {
    @TempDir
    Path directory;

    static String sas(int status, Object... arguments) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command = new ArrayList<>(
                List.of(java, "-XX:TieredStopAtLevel=1", "-jar", System.getProperty("sas.jar")));
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
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process server = new ProcessBuilder(java, "-jar", System.getProperty("sas.jar"), "server", at.toString())
                .redirectErrorStream(true).start();
        try (Store store = Store.open(at)) {
            assertTrue(server.inputReader().readLine().contains("process " + server.pid() + " serves"));
            assertTrue(sas(1, "server", at).contains("process " + server.pid() + " serves " + at + " already"));
            Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 7, "Ann");
            store.setRoot("ann", ann);
            Stores.start(BankProgram.class, at, "die in ann").waitFor();
            long start = System.nanoTime();
            while (store.attached().openTransactions() > 0 && System.nanoTime() - start < 20_000_000_000L) {
                Thread.sleep(10);
            }
            assertEquals(0, store.attached().openTransactions(),
                    "nobody waits for the dead program's locks, and they are given back");
            long before = store.attached().counts().checkpoints();
            while (store.attached().logBytesUsed() < 200_000 && store.attached().counts().checkpoints() == before) {
                ann.rename("x".repeat(400));
            }
            for (int i = 0; i < 400 && store.attached().counts().checkpoints() == before; i++) {
                Thread.sleep(50);
            }
            assertTrue(store.attached().counts().checkpoints() > before,
                    "the server replays before this program has to");
        }
        server.toHandle().destroy();
        assertEquals(143, server.waitFor());
        assertTrue(server.inputReader().readLine().contains("brought up to date"));
        try (Store store = Store.open(at)) {
            assertEquals("x".repeat(400), store.root("ann", Account.class).owner());
            Stores.check(store);
        }
        assertTrue(sas(1, "server", directory.resolve("nothing")).contains("is not a store"));
        assertTrue(sas(1, "server", at, "--share", 2).contains("--share is 2.0"));
    }

    @Test
    void writersAreNoFindings() throws Exception {
        Path at = directory.resolve("store");
        AtomicBoolean isOver = new AtomicBoolean();
        try (Store store = Store.create(at, Stores.SMALL)) {
            Account[] chain = {null};
            Thread writer = Thread.ofPlatform().start(() -> {
                for (int i = 0; !isOver.get(); i++) {
                    int number = i;
                    Transaction.run(() -> {
                        Account next = Factory.newInstanceIn(Account.class, store.container("main"), number,
                                "somebody with a long name " + number);
                        next.link(chain[0]);
                        next.rename("somebody with another name " + number);
                        if (number % 3 == 0 && chain[0] != null) {
                            next.link(null);
                            Factory.destroyInstance(chain[0]);
                        }
                        chain[0] = next;
                        store.setRoot("last", next);
                    });
                }
            });
            for (int i = 0; i < 3; i++) {
                String said = sas(0, "check", at);
                assertTrue(said.contains("other programs use the store: this is of a copy")
                        && said.contains(" 0 findings"), said);
            }
            isOver.set(true);
            writer.join();
        }
        String said = sas(0, "check", at);
        assertFalse(said.contains("copy"), said);
    }

    @Test
    void aCheckFailsOnReferencesToObjectsThatAreGone() throws Exception {
        Path at = directory.resolve("store");
        try (Store store = Store.create(at, Stores.SMALL)) {
            Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
            Account bob = Factory.newInstanceNear(Account.class, ann, 2, "Bob");
            ann.link(bob);
            store.setRoot("ann", ann);
            store.setRoot("bob", bob);
            Transaction.run(() -> Factory.destroyInstance(bob));
            Stores.check(store);
        }
        String said = sas(1, "check", at);
        assertTrue(said.contains("2 dangling references, 0 findings")
                && said.contains("the root bob refers to the object at")
                && said.contains("main: field dev.norn.sas.example.Account.next of the object at")
                && said.contains("which was destroyed"), said);
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
            assertTrue(list.contains("root      ann") && list.contains("Account") && list.contains("container main"),
                    list);
            String shown = sas(0, "show", at, "ann");
            assertTrue(shown.contains("Account.owner = \"Ann with a long name\"")
                    && shown.contains("Account.number = 7"), shown);
            assertTrue(sas(0, "stat", at).contains("attached processes   1"));
            sas(0, "backup", at, directory.resolve("copy"));
            ann.rename("changed after the backup");
            assertTrue(sas(0, "check", at).contains("0 findings"));
            Transaction.begin();
            ann.rename("not committed yet");
            assertTrue(sas(0, "check", at).contains("0 findings"), "what is not committed is no damage");
            String locked = sas(0, "show", at, "ann");
            assertTrue(locked.contains("Account.number = 7") && locked.contains("a transaction is changing it"),
                    "nobody waits for it: " + locked);
            store.setRoot("carl", ann);
            assertTrue(sas(0, "ls", at).contains("root      carl"), "nor for the list of roots");
            String described = Factory.describe(Factory.newIntArrayNear(120, ann));
            String array = sas(0, "show", at, described.substring(described.lastIndexOf(' ') + 1));
            assertTrue(array.contains("int[120]") && array.contains("  [99] = 0\n  and 20 more elements"), array);
            Transaction.abort();
            assertTrue(sas(1, "show", at, "bob").contains("no root bob"));
        }
        sas(0, "recover", at);
        try (Store store = Store.open(directory.resolve("copy"))) {
            assertEquals("Ann with a long name", store.root("ann", Account.class).owner());
        }
        assertTrue(sas(1, "ls", directory).contains("is not a store"));
        assertTrue(sas(1, "backup", at, directory.resolve("copy")).contains("copy exists already"));
        assertTrue(sas(1, "create", directory.resolve("bad"), "--main-bytes", -5).contains("would hold -5 bytes"));
        assertFalse(Files.exists(directory.resolve("bad")), "what could not be completed is not there");
        assertTrue(sas(1, "create", directory.resolve("new/and/bad"), "--log-bytes", 100)
                .contains("a log of 100 bytes is too short"));
        assertFalse(Files.exists(directory.resolve("new")), "nor are the directories above");
        Path own = Files.createDirectory(directory.resolve("own"));
        assertTrue(sas(1, "create", own, "--main-bytes", -5).contains("would hold -5 bytes"));
        assertEquals(0, Files.list(own).count(), "the directory was there before");
        assertTrue(sas(2, "create", directory.resolve("bad"), "--log-bytes", "1X")
                .contains("'1X' is not a number of bytes"));
        assertTrue(sas(2, "create", directory.resolve("bad"), "--log-bytes", "9999999999T")
                .contains("is not a number of bytes"));
        assertEquals("", sas(0, "create", directory.resolve("bad"), "--main-bytes", "2m", "--log-bytes", "192K"));
        assertTrue(sas(0, "ls", directory.resolve("bad")).contains("of 2,097,152 bytes"));
        assertTrue(Math.abs(Files.size(directory.resolve("bad/redo.log")) - (192 << 10)) <= 4096);
        Files.delete(directory.resolve("bad/store.properties"));
        assertTrue(sas(1, "create", directory.resolve("bad")).contains("has no store.properties, but"));
        assertTrue(sas(1, "transform", directory.resolve("nowhere")).contains("nowhere is not there"));
        assertTrue(sas(1, "transform", directory).contains("no class in " + directory
                + " is of a package that was named (--packages com.acme); it has no classes"));
        Path tree = Files.createDirectories(directory.resolve("tree/org/example"));
        Path compiled = Path.of(CommandTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Files.copy(compiled.resolve("dev/norn/sas/example/Account.class"), tree.resolve("Account.class"));
        assertTrue(sas(1, "transform", directory.resolve("tree"), "--packages", "com.acme")
                .contains("is of com.acme; it has classes of org.example"));
        assertEquals("1 class transformed\n",
                sas(0, "transform", directory.resolve("tree"), "--packages", "org.example"));
        assertEquals("0 classes transformed, 1 transformed already\n",
                sas(0, "transform", directory.resolve("tree"), "--packages", "org.example"));
        sas(2, "nonsense");
        assertTrue(sas(2, "transform", directory.resolve("tree"), "--packages",
                "org/example").contains("'org/example' is not a package name: write com.acme"));
        assertTrue(sas(2, "create", "").contains("STORE is empty"));
        assertTrue(sas(1, "backup", at, at.resolve("inside")).contains("would be inside the store"));
        assertFalse(Files.exists(at.resolve("inside")));
        assertTrue(sas(0, "stat", at).contains("takes changes        yes"));
        assertTrue(sas(0, "help", "convert").contains("Usage: sas convert"));
        assertTrue(sas(0, "-V").matches("Norn SAS \\d+\\.\\d+\\.\\d+\\S*, Java 25.*\n"));
        assertTrue(sas(0, "show", "--help").contains("Usage: sas show"));
        Path damaged = Stores.withoutPool(at, directory.resolve("damaged"));
        Files.writeString(damaged.resolve("store.properties"), "format=9\n");
        assertTrue(sas(1, "ls", damaged).contains("format 9 is not 1"));
    }
}
