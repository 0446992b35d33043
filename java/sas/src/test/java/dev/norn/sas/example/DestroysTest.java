package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ContainerFull;
import dev.norn.sas.exception.ObjectAccessDenied;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.transaction.DestroyRecord;
import dev.norn.sas.util.SasMap;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Containers that record what is destroyed, or forbid it: a record is there if and only if its object was destroyed,
 * after an undo, a nested one, a kill at any moment, and a stop of the machine. The record is bounded.
 */
class DestroysTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);
    private static final int ROUNDS = Integer.getInteger("sas.rounds", 6);

    @TempDir
    Path directory;
    private Path at;
    private Store store;
    private Container accounts;

    @BeforeEach
    void create() {
        at = directory.resolve("store");
        store = Store.create(at, Stores.SMALL);
        accounts = store.createContainer("accounts", 1 << 20);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private Account account(int number) {
        return Factory.newInstanceIn(Account.class, accounts, number, "Ann");
    }

    private String format() throws Exception {
        return Files.readAllLines(at.resolve("store.properties")).getFirst();
    }

    @Test
    void aRecordSaysWhatWhenByWhomAndWhy() throws Exception {
        Factory.destroyInstance(account(1), "before anything is recorded");
        assertEquals("format=1", format(), "older programs can use the store");
        long before = System.currentTimeMillis();
        accounts.recordDestroys();
        Account ann = account(2);
        String address = ann.toString().replaceAll(".*@", "");
        Factory.destroyInstance(ann, "asked by\nann");
        DestroyRecord record = store.destroys().getFirst();
        assertEquals(1, store.destroys().size());
        assertEquals(address, Long.toHexString(record.address()));
        assertEquals(List.of(Account.class.getName(), "accounts", System.getProperty("user.name"), "asked by ann"),
                List.of(record.type(), record.container(), record.user(), record.note()));
        assertTrue(record.process().startsWith("process " + ProcessHandle.current().pid() + " of host "));
        assertEquals(Thread.currentThread().getName(), record.thread());
        long time = record.time().toEpochMilli();
        assertTrue(time >= before && time <= System.currentTimeMillis());
        assertThrows(ObjectDestroyed.class, () -> Factory.destroyInstance(ann));
        assertEquals(1, store.destroys().size());
        assertTrue(assertThrows(SASException.class, () -> Factory.destroyInstance(account(3), "x".repeat(301)))
                .getMessage().contains("at most 300 characters; this one has 301"));
        assertEquals("format=2", format(), "programs that would not record refuse the store");
        Stores.check(store);
    }

    @Test
    void whatIsUndoneIsNotRecorded() {
        accounts.recordDestroys();
        Account ann = account(1);
        Account bob = account(2);
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            Factory.destroyInstance(ann);
            throw new IllegalStateException();
        }));
        Transaction.run(() -> {
            Factory.destroyInstance(bob, "bob");
            assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
                Factory.destroyInstance(ann);
                throw new IllegalStateException();
            }));
        });
        assertEquals(List.of("bob"), store.destroys().stream().map(DestroyRecord::note).toList());
        assertEquals(1, ann.number());
        Stores.check(store);
    }

    @Test
    void aContainerForbidsDestroysForEver() {
        Account ann = account(1);
        Map<String, Integer> map = Transaction.call(() -> {
            SasMap<String, Integer> made = Factory.newInstanceIn(SasMap.class, accounts);
            made.put("ann", 1);
            return made;
        });
        accounts.forbidDestroys();
        accounts.recordDestroys();
        String message = assertThrows(ObjectAccessDenied.class, () -> Factory.destroyInstance(ann)).getMessage();
        assertTrue(message.contains("container accounts forbids") && message.contains("inactive"), message);
        assertThrows(ObjectAccessDenied.class, () -> map.remove("ann"), "its entry is an object of the container");
        assertEquals(Map.of("ann", 1), map);
        Factory.destroyInstance(Factory.newPermInstance(Shelf.class));
        store.close();
        store = Store.open(Stores.withoutPool(at, directory.resolve("copy")));
        accounts = store.container("accounts");
        assertThrows(ObjectAccessDenied.class, () -> Factory.destroyInstance(account(2)), "it is durable");
        Stores.check(store);
    }

    @Test
    void aRuleThatIsUndoneDoesNotHold() {
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            accounts.recordDestroys();
            Factory.destroyInstance(account(1));
            throw new IllegalStateException();
        }));
        assertFalse(store.containers().contains("destroys"));
        Factory.destroyInstance(account(2));
        assertEquals(List.of(), store.destroys());
        Stores.check(store);
    }

    @Test
    void aFullRecordRefusesDestroysUntilItIsMoved() throws Exception {
        store.createContainer("destroys", 2 * 4096);
        accounts.recordDestroys();
        int destroyed = 0;
        Account refused = null;
        for (; refused == null && destroyed < 1000; destroyed++) {
            Account next = account(destroyed);
            try {
                Factory.destroyInstance(next, "number " + destroyed);
            } catch (ContainerFull e) {
                assertTrue(e.getMessage().contains("sas destroys STORE --move-to FILE"), e.getMessage());
                refused = next;
                destroyed--;
            }
        }
        assertTrue(destroyed > 20 && destroyed < 100, destroyed + " records in two pages");
        assertEquals(destroyed, refused.number(), "the object is as it was");
        Path file = directory.resolve("destroyed.txt");
        assertEquals(destroyed, CommandTest.sas(0, "destroys", at).lines().count());
        assertTrue(CommandTest.sas(0, "destroys", at, "--move-to", file).startsWith(destroyed + " records moved"));
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < destroyed; i++) {
            String note = "\tnumber " + i;
            assertEquals(1, lines.stream().filter(line -> line.endsWith(note)).count(), "the line of number " + i);
        }
        assertEquals(destroyed, lines.size());
        assertEquals(List.of(), store.destroys());
        Factory.destroyInstance(refused, "at last");
        CommandTest.sas(0, "destroys", at, "--move-to", file);
        assertTrue(Files.readString(file).endsWith("\tat last\n"));
        assertTrue(CommandTest.sas(0, "ls", at).lines()
                .anyMatch(line -> line.contains(" accounts ") && line.endsWith(", destroys are recorded")));
        store.container("destroys").forbidDestroys();
        Factory.destroyInstance(account(7), "for ever");
        assertTrue(CommandTest.sas(1, "destroys", at, "--move-to", file).contains("records stay where they are"));
        assertEquals("for ever", store.destroys().getFirst().note());
        Stores.check(store);
    }

    @Test
    void aKilledJvmLeavesARecordForEachDestroyedObjectAndNoOther() throws Exception {
        accounts.recordDestroys();
        Transaction.run(() -> store.setRoot("desk",
                Factory.newInstanceIn(DestroysProgram.Desk.class, accounts, accounts)));
        Random random = new Random(SEED);
        int last = 0;
        for (int round = 0; round < ROUNDS; round++) {
            boolean staysAttached = round % 3 == 0;
            if (!staysAttached) {
                store.close();
            }
            Process child = Stores.start(DestroysProgram.class, at, SEED + round, 3);
            assertEquals("running", child.inputReader().readLine());
            Thread.sleep(50 + random.nextInt(400));
            child.toHandle().destroyForcibly();
            child.waitFor();
            if (round % 3 == 2) {
                at = Stores.withoutPool(at, directory.resolve("round" + round));
            }
            if (!staysAttached) {
                store = Store.open(at);
            }
            last = verify("after round " + round + "; replay with -Dsas.seed=" + SEED, last);
        }
        assertTrue(last > 0, "nothing was destroyed");
    }

    private int verify(String when, int before) {
        Map<String, Long> recorded = store.destroys().stream()
                .collect(Collectors.groupingBy(DestroyRecord::note, Collectors.counting()));
        int total = Transaction.call(() -> {
            DestroysProgram.Desk desk = store.root("desk", DestroysProgram.Desk.class);
            int sum = 0;
            for (int place = 0; place < DestroysProgram.PLACES; place++) {
                assertEquals((long) desk.destroyed[place], recorded.getOrDefault("place " + place, 0L),
                        "place " + place + " " + when);
                if (desk.accounts[place] != null) {
                    assertEquals(place, desk.accounts[place].number(), "it is there, " + when);
                }
                sum += desk.destroyed[place];
            }
            return sum;
        });
        assertNull(store.destroys().stream().filter(record -> !record.container().equals("accounts")).findAny()
                .orElse(null));
        assertTrue(total >= before, when);
        Stores.check(store);
        return total;
    }
}
