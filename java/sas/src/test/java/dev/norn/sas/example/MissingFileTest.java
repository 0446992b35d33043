package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ContainerDamaged;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.store.inspect.Audit;
import dev.norn.sas.store.inspect.Inspection;
import dev.norn.sas.store.transaction.AttachedStore;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A container's file is gone while the log has changes of it: the others stay usable, its own changes wait in a file
 * beside the log, and when it is back, everything that was committed is there, wherever a replay was cut off meanwhile.
 */
class MissingFileTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);
    private static final int ACCOUNTS = 60;
    private static final String[] NAMES = {"one", "two"};

    @TempDir
    Path directory;
    private Path at;
    private Store store;
    private final Random random = new Random(SEED);
    /** What each account has, by container. */
    private final long[][] balances = new long[2][ACCOUNTS];
    private final String[][] owners = new String[2][ACCOUNTS];

    @BeforeEach
    void create() {
        at = directory.resolve("store");
        store = Store.create(at, Stores.SMALL);
        for (int c = 0; c < 2; c++) {
            Container container = store.createContainer(NAMES[c], 1 << 20);
            int its = c;
            Transaction.run(() -> {
                Bin bin = Factory.newInstanceIn(Bin.class, container);
                bin.accounts = Factory.newArrayOfNear(Account.class, ACCOUNTS, bin);
                for (int i = 0; i < ACCOUNTS; i++) {
                    bin.accounts[i] = Factory.newInstanceNear(Account.class, bin, i, owners[its][i] = "owner " + i);
                }
                store.setRoot(NAMES[its], bin);
            });
        }
    }

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
        }
    }

    static class Bin {
        Account[] accounts;
    }

    private void open(Path path) {
        store = Store.open(path);
    }

    /** Changes accounts of the container, and puts others into their places; the model has it too. */
    private void change(int c, int times) {
        for (int n = 0; n < times; n++) {
            Transaction.run(() -> {
                Bin bin = store.root(NAMES[c], Bin.class);
                int i = random.nextInt(ACCOUNTS);
                int amount = random.nextInt(1000);
                if (random.nextInt(4) == 0) {
                    Account old = bin.accounts[i];
                    bin.accounts[i] = Factory.newInstanceNear(Account.class, bin, i,
                            owners[c][i] = "owner " + amount + " of a new account " + i);
                    balances[c][i] = 0;
                    Factory.destroyInstance(old);
                }
                bin.accounts[i].add(amount);
                balances[c][i] += amount;
            });
        }
    }

    private void verify(int c, String when) {
        Transaction.run(() -> {
            Bin bin = store.root(NAMES[c], Bin.class);
            for (int i = 0; i < ACCOUNTS; i++) {
                assertEquals(balances[c][i], bin.accounts[i].balance(),
                        "account " + i + " of " + NAMES[c] + ' ' + when + ", seed " + SEED);
                assertEquals(owners[c][i], bin.accounts[i].owner(), when);
            }
        });
    }

    /** Leaves the store as the machine's stop does, and opens nothing. */
    private Path stop(String name) {
        Path copy = Stores.withoutPool(store == null ? at : Path.of(store.toString()), directory.resolve(name));
        if (store != null) {
            store.close();
            store = null;
        }
        return copy;
    }

    private Path file(Path its) {
        return its.resolve("one.container");
    }

    private interface Damage {
        void apply(Path file, Path aside) throws Exception;
    }

    /**
     * The file is away, the store is used, and it comes back: kept aside in {@code aside}, to which the damage copies
     * or moves it.
     */
    private void goAndComeBack(Damage damage) throws Exception {
        store.attached().checkpoint();
        change(0, 30);
        change(1, 30);
        Path its = stop("stopped");
        Path aside = directory.resolve("aside");
        damage.apply(file(its), aside);
        open(its);
        verify(1, "while the other's file is away");
        change(1, 10);
        store.attached().checkpoint();
        var thrown = assertThrows(ContainerDamaged.class, () -> store.root("one", Bin.class).accounts[0].balance());
        assertTrue(thrown.getMessage().contains("one.container") && thrown.getMessage().contains("put it back"),
                thrown.getMessage());
        assertThrows(ContainerDamaged.class,
                () -> Factory.newInstanceIn(Account.class, store.container("one"), 1, "Ann"));
        assertTrue(Inspection.list(store.attached()).stream()
                .anyMatch(line -> line.contains("container one ") && line.contains("MISSING")));
        assertFalse(Inspection.stat(store.attached()).contains("waiting for a file   0 bytes of changes"),
                Inspection.stat(store.attached()).toString());
        assertEquals(1, new Audit(store.attached()).run().size());
        its = stop("again");
        open(its);
        verify(1, "when opened again");
        assertThrows(ContainerDamaged.class, () -> store.root("one", Bin.class).accounts[0].balance());
        store.attached().backup(directory.resolve("backup"));
        store.close();
        remove(file(its));
        Files.copy(aside, file(its));
        open(its);
        verify(0, "when its file is back");
        verify(1, "when the other's file is back");
        assertTrue(Inspection.stat(store.attached()).contains("waiting for a file   0 bytes of changes"),
                Inspection.stat(store.attached()).toString());
        Stores.check(store);
        store.close();
        remove(file(directory.resolve("backup")));
        Files.copy(aside, file(directory.resolve("backup")));
        open(directory.resolve("backup"));
        verify(0, "in a backup that was made while the file was away");
        Stores.check(store);
        store.close();
        open(its);
        change(0, 10);
        open(stop("last"));
        verify(0, "after it went on");
    }

    private static void remove(Path path) throws Exception {
        Files.deleteIfExists(path);
    }

    @Test
    void itIsRemoved() throws Exception {
        goAndComeBack((file, aside) -> Files.move(file, aside));
    }

    @Test
    void itCannotBeRead() throws Exception {
        goAndComeBack((file, aside) -> {
            // No user, not even root, can read a directory as a file.
            Files.move(file, aside);
            Files.createDirectory(file);
        });
    }

    @Test
    void itIsCutOff() throws Exception {
        goAndComeBack((file, aside) -> {
            Files.copy(file, aside);
            try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(channel.size() - 2000);
            }
        });
    }

    @Test
    void itsHeaderIsDamaged() throws Exception {
        goAndComeBack((file, aside) -> {
            Files.copy(file, aside);
            byte[] bytes = Files.readAllBytes(file);
            bytes[20] ^= 4;
            Files.write(file, bytes);
        });
    }

    @Test
    void itIsRemovedFromUnderARunningStore() throws Exception {
        store.attached().checkpoint();
        change(0, 10);
        Path aside = directory.resolve("aside");
        Files.move(file(at), aside);
        for (int round = 0; round < 3; round++) {
            change(0, 10);
            store.attached().checkpoint();
            verify(0, "in the pool");
        }
        Files.move(aside, file(at));
        change(0, 5);
        open(stop("stopped"));
        verify(0, "after the machine's stop");
        Stores.check(store);
    }

    @Test
    void bothAreAwayAndComeBackOneAfterTheOther() throws Exception {
        store.attached().checkpoint();
        change(0, 20);
        change(1, 20);
        Path its = stop("stopped");
        Files.move(file(its), directory.resolve("one"));
        Files.move(its.resolve("two.container"), directory.resolve("two"));
        open(its);
        assertThrows(ContainerDamaged.class, () -> verify(0, "while it is away"));
        store.close();
        Files.move(directory.resolve("two"), its.resolve("two.container"));
        open(its);
        verify(1, "when it is back");
        change(1, 20);
        its = stop("again");
        open(its);
        store.close();
        Files.move(directory.resolve("one"), file(its));
        open(its);
        verify(0, "when it is back, too");
        verify(1, "when both are back");
        Stores.check(store);
    }

    /**
     * A replay is cut off before the log begins anew: what it had set aside, up to any byte, is neither lost nor done
     * twice.
     */
    @Test
    void aReplayThatIsCutOffIsDoneAgain() throws Exception {
        store.attached().checkpoint();
        change(0, 6);
        change(1, 6);
        Path before = stop("before");
        Path aside = directory.resolve("aside");
        Files.move(file(before), aside);
        // What the whole replay sets aside.
        Path whole = Stores.withoutPool(before, directory.resolve("whole"));
        open(whole);
        store.close();
        byte[] waiting = Files.readAllBytes(whole.resolve("redo.unapplied"));
        assertTrue(waiting.length > 500, waiting.length + " bytes wait");
        int step = Integer.getInteger("sas.cut", 47);
        int damaged = 0;
        for (int cut = 0; cut <= waiting.length; cut += step) {
            // In the first, the file stays away when it is done again, in the second it is back, in the third the other
            // one is away instead. In the fourth, a bit is flipped at the place.
            for (int after = 0; after < 4; after++) {
                Path its = directory.resolve("cut " + cut + " " + after);
                Stores.withoutPool(before, its);
                byte[] written = java.util.Arrays.copyOf(waiting, after == 3 ? waiting.length : cut);
                if (after == 3 && cut < waiting.length) {
                    written[cut] ^= (byte) (1 << random.nextInt(8));
                }
                Files.write(its.resolve("redo.unapplied"), written);
                if (after == 1 || after == 2) {
                    Files.copy(aside, file(its));
                }
                Path other = directory.resolve("other " + cut);
                if (after == 2) {
                    Files.move(its.resolve("two.container"), other);
                }
                if (after == 3) {
                    damaged += openOrRecover(its) ? 0 : 1;
                } else {
                    open(its);
                }
                store.close();
                if (after == 0 || after == 3) {
                    Files.copy(aside, file(its));
                }
                if (after == 2) {
                    Files.move(other, its.resolve("two.container"));
                }
                open(its);
                verify(0, "cut at " + cut + ", case " + after);
                verify(1, "cut at " + cut + ", case " + after);
                Stores.check(store);
                store.close();
                store = null;
            }
        }
        assertTrue(damaged > 3, damaged + " were damaged");
    }

    /** Damage to what was durable is named; as the log has it still, nothing is lost when that is accepted. */
    private boolean openOrRecover(Path its) {
        try {
            open(its);
            return true;
        } catch (StorageReadFailure e) {
            assertTrue(e.getMessage().contains("redo.unapplied is damaged: no valid record is at byte"),
                    e.getMessage());
            List<String> lost = AttachedStore.recover(its);
            assertTrue(lost.stream().anyMatch(line -> line.contains("the whole file is kept in "
                    + its.resolve("redo.lost-1"))), lost.toString());
            open(its);
            return false;
        }
    }

    /** What waits is the only copy of what was committed: a bit that flips there is never passed over. */
    @Test
    void damageToWhatWaitsIsNamed() throws Exception {
        store.attached().checkpoint();
        change(0, 20);
        Path its = stop("stopped");
        Path aside = directory.resolve("aside");
        Files.move(file(its), aside);
        open(its);
        its = stop("waiting");
        byte[] waiting = Files.readAllBytes(its.resolve("redo.unapplied"));
        for (int round = 0; round < 10; round++) {
            Path copy = Stores.withoutPool(its, directory.resolve("round" + round));
            byte[] changed = waiting.clone();
            // Not in the mark at the end: without it, nothing says that the others were durable.
            int place = random.nextInt(changed.length - 24);
            changed[place] ^= (byte) (1 << random.nextInt(8));
            Files.write(copy.resolve("redo.unapplied"), changed);
            assertFalse(openOrRecover(copy), "round " + round + " at " + place + ", seed " + SEED);
            store.close();
            store = null;
            assertEquals(-1, Arrays.mismatch(changed, Files.readAllBytes(copy.resolve("redo.lost-1"))));
        }
        Files.copy(aside, file(its));
        open(its);
        verify(0, "when its file is back, and nothing is damaged");
    }

    @Test
    void withoutTheDirectoryTheStoreDoesNotOpenAndNothingIsMadeInItsPlace() throws Exception {
        store.attached().checkpoint();
        change(0, 5);
        for (String log : new String[] {"with changes", "without"}) {
            Path its = stop(log);
            Path aside = directory.resolve("system " + log);
            Files.move(its.resolve("system.container"), aside);
            var thrown = assertThrows(StorageReadFailure.class, () -> open(its));
            assertTrue(thrown.getMessage().contains("container system")
                    && thrown.getMessage().contains("put system.container back"), thrown.getMessage());
            Files.move(aside, its.resolve("system.container"));
            open(its);
            verify(0, "when the directory is back");
            store.attached().checkpoint();
        }
    }
}
