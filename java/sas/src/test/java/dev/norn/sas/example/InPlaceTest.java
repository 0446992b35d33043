package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.example.ArrayInPlace.Type;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.util.SasArray;
import dev.norn.sas.util.SasByteArray;
import dev.norn.sas.util.SasDoubleArray;
import dev.norn.sas.util.SasIntArray;
import dev.norn.sas.util.SasLongArray;
import java.lang.reflect.Array;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Arrays that are used where they lie do what Java arrays do, in temporary and persistent form, through aborts,
 * restarts and crashes; and only what changes is logged.
 */
class InPlaceTest {
    private static final long SEED = Long.getLong("sas.seed", 1997);
    /** Below and above what fits a page, and where blocks and pages end. */
    private static final int[] BYTES = {0, 8, 240, 4064, 4072, 4080, 40_000};

    @TempDir
    Path directory;
    private Store store;

    @BeforeEach
    void open() {
        store = Store.create(directory.resolve("store"), Stores.SMALL);
    }

    @AfterEach
    void close() {
        try {
            Stores.check(store);
        } finally {
            store.close();
        }
    }

    private void reopen(Path at) {
        store.close();
        store = Store.open(at);
    }

    private static void verify(byte[] model, ArrayInPlace array, String where) {
        assertEquals(model.length, array.array().length(), where);
        assertArrayEquals(model, array.values(), where);
    }

    /** A random step on the array and on its model. */
    private static void step(Random random, Type type, ArrayInPlace array, byte[] model, String where) {
        int from = random.nextInt(model.length);
        int to = from + random.nextInt(model.length - from + 1);
        to = random.nextBoolean() ? Math.min(to, from + 5) : to;
        byte value = (byte) random.nextInt();
        switch (random.nextInt(5)) {
            case 0 -> {
                array.fill(from, to, value);
                Arrays.fill(model, from, to, value);
            }
            case 1 -> {
                byte[] values = new byte[to - from + 3];
                random.nextBytes(values);
                array.copyFrom(from, type.of(values), 2, to - from);
                System.arraycopy(values, 2, model, from, to - from);
            }
            case 2 -> {
                Object copy = type.of(new byte[to - from + 3]);
                array.copyTo(from, copy, 2, to - from);
                for (int i = from; i < to; i++) {
                    assertEquals(model[i], ((Number) Array.get(copy, i - from + 2)).byteValue(), where);
                }
            }
            case 3 -> assertEquals(model[from], array.get(from), where);
            default -> {
                array.set(from, value);
                model[from] = value;
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Type.class)
    void anyArrayDoesWhatItsModelDoes(Type type) {
        for (int bytes : BYTES) {
            int length = bytes / type.bytes;
            String where = type + " of " + length + ", seed " + SEED;
            Random random = new Random(SEED + bytes);
            SasArray persistent = Factory.newInstanceIn(type.array, store.container("main"), length);
            ArrayInPlace temporary = new ArrayInPlace(type.make.apply(length));
            byte[] model = new byte[length];
            verify(model, new ArrayInPlace(persistent), where);
            store.setRoot("array", persistent);
            for (int round = 0; round < 25 && length > 0; round++) {
                byte[] next = model.clone();
                // Another handle of the same array now and then, and steps outside transactions.
                ArrayInPlace array = new ArrayInPlace(round % 3 == 0 ? store.root("array", type.array) : persistent);
                if (round % 5 == 4) {
                    step(random, type, array, next, where);
                    model = next;
                } else {
                    Transaction.begin();
                    for (int step = 0; step < 8; step++) {
                        step(random, type, step % 4 == 3 ? new ArrayInPlace(persistent) : array, next, where);
                    }
                    verify(next, array, where);
                    if (random.nextInt(3) == 0) {
                        Transaction.abort();
                    } else {
                        Transaction.commit();
                        model = next;
                    }
                }
                verify(model, array, where + " after round " + round);
            }
            Random same = new Random(SEED);
            byte[] own = new byte[length];
            for (int step = 0; step < 100 && length > 0; step++) {
                step(same, type, temporary, own, where);
            }
            verify(own, temporary, where);
            assertFalse(Factory.isPersistent(temporary.array()));
            reopen(directory.resolve("store"));
            verify(model, new ArrayInPlace(store.root("array", type.array)), where + " after a restart");
            Path copy = Stores.withoutPool(directory.resolve("store"), directory.resolve("durable" + bytes));
            reopen(copy);
            verify(model, new ArrayInPlace(store.root("array", type.array)), where + " from the durable files");
            reopen(directory.resolve("store"));
        }
    }

    @Test
    void valuesOfTheWholeRangeAreKept() {
        long[] longs = {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE};
        int[] ints = {Integer.MIN_VALUE, -1, 0, Integer.MAX_VALUE};
        double[] doubles = {Double.NEGATIVE_INFINITY, -0.0, Double.MIN_VALUE, Double.NaN};
        SasLongArray of64 = Factory.newInstanceIn(SasLongArray.class, store.container("main"), longs);
        SasIntArray of32 = Factory.newInstanceIn(SasIntArray.class, store.container("main"), 4);
        SasDoubleArray ofDoubles = Factory.newInstanceIn(SasDoubleArray.class, store.container("main"), 4);
        for (int i = 0; i < 4; i++) {
            of32.set(i, ints[i]);
            ofDoubles.set(i, doubles[i]);
            assertEquals(longs[i], of64.get(i));
        }
        assertArrayEquals(ints, of32.toArray());
        assertArrayEquals(doubles, ofDoubles.toArray());
    }

    @Test
    void anIndexOutsideIsRefused() {
        SasLongArray[] all = {new SasLongArray(10),
                Factory.newInstanceIn(SasLongArray.class, store.container("main"), 10)};
        Transaction.run(() -> {
            all[1].set(9, 9);
            refuse(all);
        });
        refuse(all);
        assertThrows(NegativeArraySizeException.class, () -> new SasLongArray(-1));
        var thrown = assertThrows(SASException.class,
                () -> Factory.newInstanceIn(SasByteArray.class, store.container("main"), 8_388_584));
        assertTrue(thrown.getMessage().contains("8388608"), thrown.getMessage());
        assertEquals(8_388_583, Factory.newInstanceIn(SasByteArray.class, store.container("main"), 8_388_583).length());
    }

    private static void refuse(SasLongArray[] all) {
        long[] copy = new long[5];
        for (SasLongArray array : all) {
            for (int index : new int[] {-1, -4, -1000, 10, 32, 1000, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
                assertThrows(IndexOutOfBoundsException.class, () -> array.get(index));
                assertThrows(IndexOutOfBoundsException.class, () -> array.set(index, 1));
                assertThrows(IndexOutOfBoundsException.class, () -> array.fill(index, 11, 1));
                assertThrows(IndexOutOfBoundsException.class, () -> array.copyTo(index, copy, 0, 5));
                assertThrows(IndexOutOfBoundsException.class, () -> array.copyFrom(index, copy, 0, 5));
            }
            assertThrows(IndexOutOfBoundsException.class, () -> array.fill(5, 4, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> array.copyTo(0, copy, 1, 5));
            assertThrows(IndexOutOfBoundsException.class, () -> array.copyFrom(0, copy, -1, 3));
            assertFalse(array.get(4) == 1);
        }
    }

    @Test
    void onlyWhatChangesIsLogged() {
        SasLongArray array = Factory.newInstanceIn(SasLongArray.class, store.container("main"), 1_000_000);
        long before = store.attached().counts().loggedBytes();
        array.set(500_000, 1);
        long one = store.attached().counts().loggedBytes() - before;
        assertTrue(one > 0 && one <= 100, one + " bytes for an element of a million");
        Transaction.run(() -> array.copyFrom(1000, new long[100_000], 0, 100_000));
        assertEquals(before + one, store.attached().counts().loggedBytes(), "nothing was changed");
        Transaction.run(() -> {
            for (int i = 0; i < 1000; i++) {
                array.set(7, i);
            }
        });
        assertTrue(store.attached().counts().loggedBytes() - before <= 2 * one, "the last value counts");
    }

    @Test
    void whatAnAbortedTransactionCreatedIsGoneAndWhatItDestroyedIsBack() {
        Transaction.begin();
        SasLongArray gone = Factory.newInstanceIn(SasLongArray.class, store.container("main"), new long[] {1, 2, 3});
        assertArrayEquals(new long[] {1, 2, 3}, gone.toArray());
        Transaction.abort();
        assertThrows(ObjectDestroyed.class, () -> gone.get(0));
        assertThrows(ObjectDestroyed.class, () -> gone.set(0, 1));
        SasLongArray array = Factory.newInstanceIn(SasLongArray.class, store.container("main"), 5000);
        array.set(4999, 7);
        Transaction.begin();
        array.set(4999, 8);
        Factory.destroyInstance(array);
        assertThrows(ObjectDestroyed.class, () -> array.get(4999));
        assertThrows(ObjectDestroyed.class, () -> array.set(4999, 9));
        Transaction.abort();
        assertEquals(7, array.get(4999));
        Factory.destroyInstance(array);
        assertThrows(ObjectDestroyed.class, array::toArray);
        assertThrows(ObjectDestroyed.class, array::length);
        SasLongArray other = Factory.newInstanceIn(SasLongArray.class, store.container("main"), 5000);
        Transaction.run(() -> {
            other.fill(0, 5000, 3);
            Factory.destroyInstance(other);
        });
        reopen(Stores.withoutPool(directory.resolve("store"), directory.resolve("durable")));
    }

    @Test
    void anArrayIsAdoptedByTheObjectThatRefersToIt() {
        store.close();
        store = Store.open(directory.resolve("store"), SubObjects.ADOPT);
        Turnstile owner = Factory.newPermInstance(Turnstile.class);
        SasDoubleArray array = new SasDoubleArray(new double[] {0.5, -2});
        owner.beside = array;
        assertTrue(Factory.isPersistent(array));
        assertEquals(-2, array.get(1));
        array.set(0, Double.MIN_VALUE);
        assertArrayEquals(new double[] {Double.MIN_VALUE, -2}, ((SasDoubleArray) owner.beside).toArray());
    }

    /**
     * Readers outside transactions see an array as of one moment, and a thread that finds a handle held by another one
     * gets its own lock.
     */
    @Test
    void threadsShareAnArray() throws Exception {
        int length = 300_000;
        SasLongArray array = Factory.newInstanceIn(SasLongArray.class, store.container("main"), length);
        Thread[] writers = new Thread[2];
        int rounds = 15;
        for (int i = 0; i < writers.length; i++) {
            writers[i] = Thread.ofPlatform().start(() -> {
                for (int round = 0; round < rounds; round++) {
                    Transaction.run(() -> array.fill(0, length, array.get(length - 1) + 1));
                }
            });
        }
        long[] seen = new long[length];
        while (writers[0].isAlive() || writers[1].isAlive()) {
            array.copyTo(0, seen, 0, length);
            assertEquals(seen[0], Arrays.stream(seen).max().getAsLong());
            assertEquals(seen[0], Arrays.stream(seen).min().getAsLong());
        }
        assertEquals(2 * rounds, array.get(17));
    }

    @Test
    void whatAKilledJvmCommittedIsThereAndTheRestIsNot() throws Exception {
        Path at = directory.resolve("store");
        store.setRoot("array", Factory.newInstanceIn(SasLongArray.class, store.container("main"), ArrayProgram.LENGTH));
        Random random = new Random(SEED);
        for (int round = 0; round < 3; round++) {
            Process child = Stores.start(ArrayProgram.class, at);
            int first = child.getInputStream().read();
            Thread.sleep(20 + random.nextInt(300));
            child.toHandle().destroyForcibly();
            String all = (char) first + new String(child.getInputStream().readAllBytes());
            child.waitFor();
            // The last line may be cut off.
            String[] lines = all.substring(0, all.lastIndexOf('\n')).split("\n");
            long said = Long.parseLong(lines[lines.length - 1]);
            if (round == 2) {
                reopen(Stores.withoutPool(at, directory.resolve("durable")));
            }
            long[] found = store.root("array", SasLongArray.class).toArray();
            assertTrue(found[0] >= said && found[0] <= said + 1,
                    found[0] + " changes, and " + said + " were said, seed " + SEED);
            long[] model = new long[ArrayProgram.LENGTH];
            model[0] = found[0];
            for (long number = 1; number <= found[0]; number++) {
                ArrayProgram.change(number, (index, value) -> model[index] = value);
            }
            assertArrayEquals(model, found);
        }
    }
}
