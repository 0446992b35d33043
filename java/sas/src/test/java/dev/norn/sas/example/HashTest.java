package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.inspect.ClassCounts;
import dev.norn.sas.util.SasLongArray;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The identity hash code of an object is the same before and after it becomes persistent, through each handle, in each
 * JVM, and whatever becomes of its transaction.
 */
class HashTest {
    @TempDir
    Path directory;
    private Store store;
    private Badge.Desk desk;

    @BeforeEach
    void open() {
        Store.create(directory.resolve("store"), Stores.SMALL).close();
        store = Store.open(directory.resolve("store"), SubObjects.ADOPT);
        desk = Factory.newInstanceIn(Badge.Desk.class, store.container(Store.MAIN));
        store.setRoot("desk", desk);
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    private void reopen(Path at) {
        store.close();
        store = Store.open(at, SubObjects.ADOPT);
        desk = store.root("desk", Badge.Desk.class);
    }

    /**
     * Of every three, one was asked before it was persistent, one is asked first by the map that it becomes persistent
     * with, and one afterwards.
     */
    private void fill() {
        for (int i = 0; i < 100; i++) {
            int number = i;
            Transaction.run(() -> {
                Badge badge = Badge.of(number);
                int before = number % 7 == 0 ? badge.hashCode() : number % 7 == 1 ? System.identityHashCode(badge) : 0;
                if (number % 7 < 4) {
                    assertNull(desk.numbers.put(badge, number));
                    desk.badges[number] = badge;
                } else {
                    desk.badges[number] = badge;
                    // Makes it persistent.
                    Link holder = Factory.newInstanceNear(Link.class, desk, 0, null);
                    holder.other = badge;
                    assertNull(desk.numbers.put(badge, number));
                }
                assertTrue(Factory.isPersistent(badge));
                assertEquals(number, desk.numbers.put(badge, number));
                assertTrue(desk.table.add(badge));
                desk.codes[number] = badge.hashCode();
                assertTrue(before == 0 || before == badge.hashCode());
            });
        }
    }

    @Test
    void codesAreTheSameInEveryJvm() throws Exception {
        fill();
        assertEquals(100, desk.numbers.size());
        assertEquals(100, desk.verify());
        Process other = Stores.start(BadgeProgram.class, directory.resolve("store"));
        assertEquals("100", other.inputReader().readLine());
        assertEquals(0, other.waitFor());
        reopen(directory.resolve("store"));
        assertEquals(100, desk.verify());
        reopen(Stores.withoutPool(directory.resolve("store"), directory.resolve("copy")));
        assertEquals(100, desk.verify());
        Transaction.run(() -> {
            for (int i = 0; i < 100; i += 2) {
                assertEquals(i, desk.numbers.remove(desk.badges[i]));
                desk.badges[i] = null;
            }
        });
        assertEquals(50, desk.verify());
    }

    @Test
    void aHashSetKeepsItsMembers() {
        Set<Badge> set = new HashSet<>();
        Map<Badge, Integer> map = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            Badge badge = Badge.of(i);
            set.add(badge);
            map.put(badge, i);
        }
        Transaction.run(() -> {
            for (int i = 0; i < 100; i++) {
                Link holder = Factory.newInstanceNear(Link.class, desk, 0, null);
                holder.other = map.keySet().stream()
                        .filter(badge -> !Factory.isPersistent(badge)).findFirst().orElseThrow();
            }
        });
        map.forEach((badge, number) -> {
            assertTrue(Factory.isPersistent(badge));
            assertTrue(set.contains(badge));
            assertEquals(number, badge.number);
            assertEquals(number, map.get(badge));
        });
    }

    @Test
    void whatIsUndoneOrDestroyedHasItsCode() {
        for (int i = 0; i < 3; i++) {
            Badge badge = Badge.of(i);
            int code = badge.hashCode();
            Link holder = Factory.newInstanceNear(Link.class, desk, 0, null);
            Transaction.begin();
            holder.other = badge;
            assertEquals(code, badge.hashCode());
            Transaction.abort();
            assertEquals(code, badge.hashCode());
            Badge other = Badge.of(i);
            int its = other.hashCode();
            holder.other = other;
            store.setRoot("holder", holder);
            Badge again = (Badge) store.root("holder", Link.class).other;
            assertNotSame(other, again);
            assertEquals(its, again.hashCode());
            Factory.destroyInstance(other);
            assertEquals(its, other.hashCode());
        }
        Badge badge = Badge.of(1);
        int code = badge.hashCode();
        desk.badges[1] = badge;
        store.close();
        assertEquals(code, badge.hashCode());
        store = Store.open(directory.resolve("store"), SubObjects.ADOPT);
    }

    @Test
    void aRefusedAdoptionKeepsTheCode() {
        Badge.Long badge = new Badge.Long(2);
        badge.fourth = new java.util.ArrayList<>();
        int code = badge.hashCode();
        Link holder = Factory.newInstanceNear(Link.class, desk, 0, null);
        assertThrows(SASException.class, () -> holder.other = badge);
        assertFalse(Factory.isPersistent(badge));
        assertEquals(code, badge.hashCode());
        badge.fourth = null;
        holder.other = badge;
        assertEquals(code, badge.hashCode());
    }

    @Test
    void aCloneHasACodeOfItsOwn() throws Exception {
        CopiesTest.Inner original = new CopiesTest.Inner();
        int code = original.hashCode();
        CopiesTest.Inner copy = (CopiesTest.Inner) original.fromBelow();
        assertNotEquals(code, copy.hashCode());
        Link holder = Factory.newInstanceNear(Link.class, desk, 0, null);
        holder.other = original;
        CopiesTest.Inner another = (CopiesTest.Inner) original.fromBelow();
        assertNotSame(original, another);
        assertNotEquals(code, another.hashCode());
        assertEquals(code, original.hashCode());
    }

    @Test
    void anArrayInPlaceHasItsCodeBehindItsElements() {
        for (int length : new int[] {0, 1, 2, 3, 509, 510, 511, 5000}) {
            SasLongArray longs = new SasLongArray(length);
            int code = longs.hashCode();
            Link holder = Factory.newInstanceNear(Link.class, desk, 0, null);
            holder.longs = longs;
            Transaction.run(() -> longs.fill(0, length, -1));
            store.setRoot("holder", holder);
            reopen(directory.resolve("store"));
            SasLongArray again = store.root("holder", Link.class).longs;
            assertEquals(code, again.hashCode());
            for (int i = 0; i < length; i++) {
                assertEquals(-1, again.get(i));
            }
        }
    }

    /** A hash code that was never asked for takes no storage. */
    @Test
    void onlyCodesThatWereAskedForAreStored() {
        Link holder = Factory.newInstanceNear(Link.class, desk, 0, null);
        for (int asked = 0; asked < 2; asked++) {
            long before = bytes();
            Badge badge = new Badge.Long(1);
            if (asked == 1) {
                badge.hashCode();
            }
            holder.other = badge;
            assertEquals(asked == 1 ? 64 : 48, bytes() - before);
        }
        for (Badge badge : new Badge[] {new Badge(1), new Badge.Full(1)}) {
            long before = bytes();
            badge.hashCode();
            holder.other = badge;
            assertEquals(badge instanceof Badge.Full ? 48 : 32, bytes() - before, "there is room behind the fields");
        }
    }

    private long bytes() {
        return ClassCounts.of(store.attached(), Store.MAIN).values().stream().mapToLong(ClassCounts.Share::bytes).sum();
    }

    /** A thread asks while another adopts: whichever comes first, the code that it got stays. */
    @Test
    void askingWhileAnotherThreadAdopts() throws Exception {
        Link holder = Factory.newInstanceNear(Link.class, desk, 0, null);
        AtomicInteger round = new AtomicInteger();
        int rounds = Integer.getInteger("sas.hashes", 3000);
        Badge[] badges = new Badge[rounds];
        java.util.Arrays.setAll(badges, Badge::of);
        int[] codes = new int[rounds];
        Thread asking = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < rounds; i++) {
                while (round.get() < i) {
                    Thread.onSpinWait();
                }
                codes[i] = badges[i].hashCode();
            }
        });
        Transaction.run(() -> {
            for (int i = 0; i < rounds; i++) {
                round.set(i);
                holder.other = badges[i];
            }
        });
        asking.join();
        for (int i = 0; i < rounds; i++) {
            assertEquals(codes[i], badges[i].hashCode(), "badge " + i);
        }
    }

    /** Who has put it into a hash table before the transaction was undone finds it there afterwards. */
    @Test
    void aCodeThatWasFirstAskedForInATransactionThatIsUndoneStays() {
        for (boolean isNested : new boolean[] {false, true}) {
            Badge badge = Badge.of(1);
            int[] code = new int[1];
            Runnable failing = () -> assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
                desk.badges[0] = badge;
                Link holder = Factory.newInstanceNear(Link.class, desk, 0, null);
                holder.other = badge;
                code[0] = System.identityHashCode(badge);
                throw new IllegalStateException();
            }));
            if (isNested) {
                Transaction.run(failing::run);
            } else {
                failing.run();
            }
            assertEquals(code[0], System.identityHashCode(badge));
        }
    }
}
