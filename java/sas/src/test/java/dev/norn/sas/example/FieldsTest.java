package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.TemporaryReference;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.InnerClassInfo;
import java.lang.classfile.attribute.InnerClassesAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.AccessFlag;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Fields of every type hold what was stored, in temporary and in persistent objects; what cannot work is refused with a
 * message.
 */
class FieldsTest {
    @TempDir
    Path directory;
    private Store store;
    private Container main;

    @BeforeEach
    void open() {
        store = Store.create(directory, Stores.SMALL);
        main = store.container("main");
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    private void reopen(SubObjects subObjects) {
        store.close();
        store = Store.open(directory, subObjects);
        main = store.container("main");
    }

    private static void fill(Shelf shelf) {
        shelf.flag = true;
        shelf.tiny = -1;
        shelf.small = -2;
        shelf.letter = '\u20AC';
        shelf.number = -3;
        shelf.large = 1L << 62;
        shelf.single = 1.5f;
        shelf.wide = -2.5;
        shelf.text = "a \u20AC and an unpaired \uD800";
        shelf.boxed = 70_000;
        shelf.any = "seven";
        shelf.price = new BigDecimal("12345678901234567890.12");
        shelf.moment = Instant.parse("2026-11-21T12:00:00.123456789Z");
        shelf.day = LocalDate.of(1997, 10, 5);
        shelf.id = new UUID(1, 2);
        shelf.color = Shelf.Color.GREEN;
    }

    private static void verify(Shelf shelf) {
        assertTrue(shelf.flag);
        assertEquals(-1, shelf.tiny);
        assertEquals(-2, shelf.small);
        assertEquals('\u20AC', shelf.letter);
        assertEquals(-3, shelf.number);
        assertEquals(1L << 62, shelf.large);
        assertEquals(1.5f, shelf.single);
        assertEquals(-2.5, shelf.wide);
        assertEquals("a \u20AC and an unpaired \uD800", shelf.text);
        assertEquals(70_000, shelf.boxed);
        assertEquals("seven", shelf.any);
        assertEquals(new BigDecimal("12345678901234567890.12"), shelf.price);
        assertEquals(Instant.parse("2026-11-21T12:00:00.123456789Z"), shelf.moment);
        assertEquals(LocalDate.of(1997, 10, 5), shelf.day);
        assertEquals(new UUID(1, 2), shelf.id);
        assertEquals(Shelf.Color.GREEN, shelf.color);
    }

    @Test
    void fieldsHoldWhatWasStored() {
        Shelf temporary = new Shelf();
        assertEquals("set by a constructor", temporary.text);
        fill(temporary);
        verify(temporary);
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        assertEquals("set by a constructor", shelf.text);
        assertEquals(Long.MIN_VALUE, shelf.large);
        Transaction.run(() -> {
            fill(shelf);
            verify(shelf);
        });
        verify(shelf);
        Shelf copy = shelf.clone();
        assertFalse(Factory.isPersistent(copy));
        verify(copy);
        store.setRoot("shelf", shelf);
        reopen(SubObjects.TEMPORARY);
        verify(store.root("shelf", Shelf.class));
    }

    @Test
    void aTemporarySubObjectIsThereUntilTheRunEnds() {
        reopen(SubObjects.TEMPORARY);
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        shelf.random = new java.util.Random(1);
        assertTrue(shelf.random == shelf.random && shelf.random != null);
        store.setRoot("shelf", shelf);
        reopen(SubObjects.TEMPORARY);
        Shelf again = store.root("shelf", Shelf.class);
        var thrown = assertThrows(TemporaryReference.class, () -> System.out.println(again.random));
        for (String part : java.util.List.of("Shelf.random", "is not in the store", "Factory.newInstanceNear",
                "SubObjects.ADOPT")) {
            assertTrue(thrown.getMessage().contains(part), thrown.getMessage());
        }
    }

    private static void refused(Runnable use, String part) {
        String message = assertThrows(SASException.class, use::run).getMessage();
        assertTrue(message.contains(part), message);
    }

    @Test
    void strictRefusesAndAdoptTakesSubObjects() {
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        store.setRoot("shelf", shelf);
        reopen(SubObjects.STRICT);
        Shelf strict = store.root("shelf", Shelf.class);
        refused(() -> strict.any = new Account(1, "ann"), "is temporary: create it with Factory.newInstanceNear");
        refused(() -> strict.any = new long[3], "is temporary: create it with Factory.newLongArrayNear");
        refused(() -> strict.any = new Shelf[3], "is temporary: create it with Factory.newArrayOfNear");
        refused(() -> strict.any = new HashMap<>(), "cannot be persistent: use SasMap");
        refused(() -> strict.any = new java.util.Random(),
                "cannot be persistent: it is a class of the JDK; and it is no value");
        assertNull(strict.any);
        reopen(SubObjects.ADOPT);
        Shelf adopting = store.root("shelf", Shelf.class);
        Account ann = new Account(1, "ann");
        adopting.any = ann;
        assertTrue(Factory.isPersistent(ann));
        adopting.shelves = new Shelf[] {adopting, null};
        reopen(SubObjects.TEMPORARY);
        Shelf again = store.root("shelf", Shelf.class);
        assertEquals("ann", ((Account) again.any).owner());
        assertTrue(again.shelves[0] == again);
        assertNull(again.shelves[1]);
    }

    private static class Seeded extends java.util.Random {}

    @Test
    void whyAnObjectCannotBeAdoptedIsSaid() {
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        refused(() -> shelf.any = new Seeded(),
                "FieldsTest$Seeded for field dev.norn.sas.example.Shelf.any of dev.norn.sas.example.Shelf cannot be "
                        + "persistent: it extends java.util.Random, which is a class of the JDK with fields");
        Runnable lambda = () -> System.out.println(shelf.number);
        refused(() -> shelf.any = lambda, "cannot be persistent: it is a lambda expression");
    }

    /**
     * Kotlin's class for {@code by Delegates.observable} says that it is a member of the class that has the property,
     * which says nothing of it: then the JVM throws where it is asked for the class around.
     */
    @Test
    void classFilesMayDisagreeAboutWhoIsAroundWhom() throws Exception {
        ClassDesc own = ClassDesc.of("dev.norn.sas.example.FieldsTest$inlined");
        byte[] bytes = ClassFile.of().build(own, type -> {
            type.withFlags(AccessFlag.PUBLIC);
            type.with(InnerClassesAttribute.of(InnerClassInfo.of(own,
                    Optional.of(ClassDesc.of(FieldsTest.class.getName())), Optional.of("inlined"), AccessFlag.PUBLIC)));
            type.withMethodBody(ConstantDescs.INIT_NAME, ConstantDescs.MTD_void, ClassFile.ACC_PUBLIC,
                    code -> code.aload(0).invokespecial(ConstantDescs.CD_Object, ConstantDescs.INIT_NAME,
                            ConstantDescs.MTD_void).return_());
        });
        Object object = MethodHandles.lookup().defineClass(bytes).getConstructor().newInstance();
        assertThrows(IncompatibleClassChangeError.class, object.getClass()::getDeclaringClass);
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        shelf.any = object;
        assertTrue(Factory.isPersistent(object) && shelf.any == object);
    }

    @Test
    void aStoreAdoptsUnlessAskedNotTo() {
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        shelf.numbers = new int[] {3, 5};
        shelf.shelves = new Shelf[] {new Shelf("adopted")};
        refused(() -> shelf.random = new java.util.Random(), "cannot be persistent");
        store.setRoot("shelf", shelf);
        store.close();
        store = Store.open(directory);
        Shelf again = store.root("shelf", Shelf.class);
        assertEquals(5, again.numbers[1]);
        assertEquals("adopted", again.shelves[0].text);
    }

    /** What is said on the standard error stream meanwhile. */
    private static String said(Runnable action) {
        PrintStream before = System.err;
        var bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void whatStaysTemporaryIsSaidOnceForEachClass() {
        reopen(SubObjects.TEMPORARY);
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        String warning = said(() -> shelf.any = new Account(1, "ann"));
        assertTrue(warning.startsWith("sas: the dev.norn.sas.example.Account for field dev.norn.sas.example.Shelf.any "
                + "of dev.norn.sas.example.Shelf stays temporary, and is lost"), warning);
        assertEquals("", said(() -> shelf.any = new Account(2, "bob")));
        assertTrue(said(() -> shelf.any = new int[3]).contains("[I for field"));
    }

    @Test
    void jdkCollectionsAreRefusedWithAdvice() {
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        var thrown = assertThrows(SASException.class, () -> shelf.any = new HashMap<String, String>());
        assertTrue(thrown.getMessage().contains("SasMap"), thrown.getMessage());
    }

    @Test
    void arraysAreWrittenBackAndRolledBack() {
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        Transaction.run(() -> {
            shelf.numbers = Factory.newIntArrayNear(10, shelf);
            shelf.flags = Factory.newBooleanArrayNear(3, shelf);
            shelf.names = Factory.newArrayOfNear(String.class, 4, shelf);
            shelf.names[1] = "a name that is too long for a word";
            for (int i = 0; i < 10; i++) {
                shelf.numbers[i] = i;
            }
            shelf.flags[2] = true;
            assertTrue(shelf.numbers == shelf.numbers);
        });
        assertArrayEquals(new int[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, shelf.numbers);
        int[][] kept = new int[1][];
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            kept[0] = shelf.numbers;
            shelf.numbers[3] = 99;
            shelf.names[1] = null;
            throw new IllegalStateException();
        }));
        assertEquals(3, kept[0][3], "the copy is restored in place");
        assertEquals("a name that is too long for a word", shelf.names[1]);
        shelf.numbers[4] = 44;
        shelf.names[1] = "another name that is too long";
        store.setRoot("shelf", shelf);
        reopen(SubObjects.TEMPORARY);
        Shelf again = store.root("shelf", Shelf.class);
        assertEquals(44, again.numbers[4], "a store outside transactions is one of its own");
        assertEquals("another name that is too long", again.names[1]);
        assertArrayEquals(new boolean[] {false, false, true}, again.flags);
    }

    /**
     * A caller that keeps a copy of an array stores into the array through it, also when its transaction is over,
     * however that ended.
     */
    @Test
    void aKeptCopyIsStillTheArray() {
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        int[][] kept = new int[1][];
        Transaction.run(() -> {
            shelf.numbers = Factory.newIntArrayNear(10, shelf);
            shelf.letters = Factory.newCharArrayNear(10, shelf);
            kept[0] = shelf.numbers;
            kept[0][0] = 1;
            kept[0][0] = 2;
        });
        kept[0][0]++;
        assertEquals(3, shelf.numbers[0]);
        Transaction.begin();
        kept[0] = shelf.numbers;
        kept[0][1] = 8;
        kept[0][1] = 9;
        Transaction.abort();
        kept[0][2] = 7;
        assertArrayEquals(new int[] {3, 0, 7, 0, 0, 0, 0, 0, 0, 0}, shelf.numbers);
        char[] letters = shelf.letters;
        Transaction.run(() -> {
            letters[9] = 'x';
            kept[0][9] = 6;
        });
        assertEquals('x', shelf.letters[9]);
        assertEquals(6, shelf.numbers[9]);
        store.close();
        kept[0][0] = 100;
        store = Store.open(directory);
    }

    @Test
    void largeArraysHavePagesOfTheirOwn() {
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        Transaction.run(() -> {
            shelf.numbers = Factory.newIntArrayNear(100_000, shelf);
            shelf.numbers[99_999] = 7;
        });
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            shelf.numbers[99_999] = 8;
            Factory.newIntArrayNear(50_000, shelf);
            throw new IllegalStateException();
        }));
        store.setRoot("shelf", shelf);
        reopen(SubObjects.TEMPORARY);
        Shelf again = store.root("shelf", Shelf.class);
        assertEquals(7, again.numbers[99_999]);
        Transaction.run(() -> {
            Factory.destroyInstance(again.numbers);
            again.numbers = null;
        });
        assertNull(again.numbers);
    }

    @Test
    void recordsMayBePersistent() {
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        Shelf.Point first = Factory.newInstanceNear(Shelf.Point.class, shelf, 1, "one", null);
        Shelf.Point second =
                Factory.newInstanceNear(Shelf.Point.class, shelf, 2, "two, which has a longer name", first);
        shelf.point = second;
        store.setRoot("shelf", shelf);
        reopen(SubObjects.TEMPORARY);
        Shelf.Point again = store.root("shelf", Shelf.class).point;
        assertEquals(new Shelf.Point(2, "two, which has a longer name", new Shelf.Point(1, "one", null)), again);
        assertEquals(new Shelf.Point(1, "one", null).toString(), again.next().toString());
        assertEquals(again.hashCode(),
                new Shelf.Point(2, "two, which has a longer name", new Shelf.Point(1, "one", null)).hashCode());
    }

    @Test
    void monitorsAreLocksInsideTransactions() {
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        Transaction.run(() -> assertEquals(1, shelf.increase()));
        assertThrows(SASException.class, shelf::increase);
        assertEquals(1, new Shelf().increase());
        assertThrows(IllegalMonitorStateException.class, () -> shelf.notifyAll());
    }

    /** Its field is used through a VarHandle. */
    static class Counter {
        private static final java.lang.invoke.VarHandle COUNT;

        static {
            try {
                COUNT = MethodHandles.lookup().findVarHandle(Counter.class, "count", int.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        private volatile int count;

        int next() {
            return (int) COUNT.getAndAdd(this, 1) + 1;
        }
    }

    /** Its field is used through an updater. */
    static class Updated {
        private static final java.util.concurrent.atomic.AtomicReferenceFieldUpdater<Updated, String> TEXT =
                java.util.concurrent.atomic.AtomicReferenceFieldUpdater.newUpdater(Updated.class, String.class, "text");
        private volatile String text;

        String next(String next) {
            return TEXT.getAndSet(this, next);
        }
    }

    @Test
    void whatPassesTheAccessorsByIsRefused() throws Exception {
        assertEquals(1, new Counter().next());
        var thrown = assertThrows(SASException.class, () -> Factory.newPermInstance(Counter.class));
        assertTrue(thrown.getMessage().contains("VarHandle"), thrown.getMessage());
        assertNull(new Updated().next("x"));
        assertThrows(SASException.class, () -> Factory.newPermInstance(Updated.class));
        Shelf shelf = Factory.newPermInstance(Shelf.class);
        var field = Shelf.class.getDeclaredField("number");
        assertEquals(0, field.getInt(new Shelf()));
        field.set(new Shelf(), 3);
        assertThrows(SASException.class, () -> field.getInt(shelf));
        assertThrows(SASException.class, () -> field.setInt(shelf, 1));
        assertThrows(SASException.class, () -> Factory.newPermInstance(Thread.class));
        assertNotSame(shelf, shelf.clone());
        shelf.text = "of the persistent one";
        Shelf copy = shelf.clone();
        copy.text = "of the copy";
        assertEquals("of the persistent one", shelf.text);
        Factory.destroyInstance(shelf);
        assertThrows(ObjectDestroyed.class, () -> shelf.clone());
    }
}
