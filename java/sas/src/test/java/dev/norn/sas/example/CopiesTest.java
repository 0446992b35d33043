package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.SASException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Copies of persistent objects are objects of their own, by whichever way {@code clone} is reached; and another class's
 * handles of a field reach the object's value, or are refused.
 */
class CopiesTest {
    @TempDir
    Path directory;
    private Store store;

    @BeforeEach
    void open() {
        store = Store.create(directory, Stores.SMALL);
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    private <T> T persistent(Class<T> type) {
        return Factory.newInstanceIn(type, store.container(Store.MAIN));
    }

    /** Declares no method clone. */
    static class Cell<T extends Cell<T>> implements Cloneable {
        int number;
        String text = "text that does not fit a word";
        protected Object other;

        @SuppressWarnings("unchecked")
        T twice() throws CloneNotSupportedException {
            return (T) clone();
        }

        Object third() throws CloneNotSupportedException {
            return this.clone();
        }
    }

    static class Inner extends Cell<Inner> {
        long own;

        Object fromBelow() throws CloneNotSupportedException {
            return clone();
        }

        Object fromAbove() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    static class Open extends Inner {
        @Override
        public Open clone() throws CloneNotSupportedException {
            Open copy = (Open) super.clone();
            copy.own++;
            return copy;
        }
    }

    static class Same implements Cloneable {
        int number;

        @Override
        protected Object clone() {
            return this;
        }
    }

    static class Fixed {
        Object copy() throws CloneNotSupportedException {
            return clone();
        }
    }

    interface Copying {
        Object copy() throws CloneNotSupportedException;
    }

    private void verify(Inner original, Copying copying, int own) throws CloneNotSupportedException {
        for (boolean isInside : new boolean[] {false, true}) {
            if (isInside) {
                Transaction.begin();
            }
            original.number = 5;
            original.own = 6;
            original.other = original;
            Inner copy = (Inner) copying.copy();
            assertFalse(Factory.isPersistent(copy));
            assertNotSame(original, copy);
            assertEquals(5, copy.number);
            assertEquals(6 + own, copy.own);
            assertEquals("text that does not fit a word", copy.text);
            assertTrue(copy.other == original);
            copy.number = 7;
            copy.text = "another";
            assertEquals(5, original.number);
            assertEquals("text that does not fit a word", original.text);
            if (isInside) {
                Transaction.commit();
            }
            assertEquals(5, original.number);
        }
    }

    @Test
    void anInheritedCloneIsACopy() throws Exception {
        for (Inner original : new Inner[] {persistent(Inner.class), new Inner()}) {
            verify(original, original::twice, 0);
            verify(original, original::third, 0);
            verify(original, original::fromBelow, 0);
            verify(original, original::fromAbove, 0);
        }
        for (Open original : new Open[] {persistent(Open.class), new Open()}) {
            verify(original, original::clone, 1);
            verify(original, original::twice, 1);
            verify(original, original::fromBelow, 1);
            verify(original, original::fromAbove, 0);
        }
    }

    @Test
    void otherMethodsCloneAreAsBefore() throws Exception {
        Same same = persistent(Same.class);
        assertSame(same, same.clone());
        assertTrue(Factory.isPersistent(same));
        assertThrows(CloneNotSupportedException.class, () -> new Fixed().copy());
        assertThrows(CloneNotSupportedException.class, () -> persistent(Fixed.class).copy());
        assertTrue(Modifier.isProtected(Fixed.class.getDeclaredMethod("clone").getModifiers()));
        assertThrows(NoSuchMethodException.class, () -> Fixed.class.getMethod("clone"));
    }

    static class Gauge {
        int value;
        String name = "gauge";
        final int unit = 1;
        volatile int turns;
    }

    static class Below extends Gauge {
        long further;
    }

    /** Another class's handles of the fields. */
    private static final class Meter {
        static final MethodHandle GET;
        static final MethodHandle SET;
        static final MethodHandle NAME;
        static final MethodHandle SET_NAME;

        static {
            try {
                var lookup = MethodHandles.lookup();
                GET = lookup.findGetter(Below.class, "value", int.class);
                SET = lookup.findSetter(Below.class, "value", int.class);
                NAME = lookup.unreflectGetter(Gauge.class.getDeclaredField("name"));
                SET_NAME = lookup.unreflectSetter(Gauge.class.getDeclaredField("name"));
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        private Meter() {}
    }

    @Test
    void anotherClassesMethodHandlesReachTheObject() throws Throwable {
        for (Below gauge : new Below[] {persistent(Below.class), new Below()}) {
            Meter.SET.invokeExact(gauge, 4);
            assertEquals(4, (int) Meter.GET.invokeExact(gauge));
            assertEquals(4, gauge.value);
            Meter.SET_NAME.invokeExact((Gauge) gauge, "another name than before");
            assertEquals("another name than before", (String) Meter.NAME.invokeExact((Gauge) gauge));
            assertEquals("another name than before", gauge.name);
        }
        Below gauge = persistent(Below.class);
        assertThrows(IllegalStateException.class, () -> Transaction.run(() -> {
            try {
                Meter.SET.invokeExact(gauge, 9);
                assertEquals(9, gauge.value);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
            throw new IllegalStateException();
        }));
        assertEquals(0, gauge.value);
        var lookup = MethodHandles.lookup();
        assertThrows(NoSuchFieldException.class, () -> lookup.findGetter(Gauge.class, "nothing", int.class));
        assertThrows(IllegalAccessException.class,
                () -> MethodHandles.publicLookup().findGetter(Gauge.class, "value", int.class));
    }

    static class Valve {
        volatile int turns;
        volatile long count;
        volatile String text;
    }

    static class BelowValve extends Valve {}

    /** Its static fields are made when it is used first, after there are persistent valves. */
    private static final class Handle {
        static final VarHandle TURNS;

        static {
            try {
                TURNS = MethodHandles.lookup().findVarHandle(BelowValve.class, "turns", int.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        private Handle() {}
    }

    private static void refused(Runnable use) {
        Throwable thrown = assertThrows(Throwable.class, use::run);
        while (thrown instanceof ExceptionInInitializerError) {
            thrown = thrown.getCause();
        }
        assertEquals(SASException.class, thrown.getClass(), thrown.toString());
        for (String part : java.util.List.of(
                Valve.class.getName(), "its field turns is used through ", "use the field itself")) {
            assertTrue(thrown.getMessage().contains(part), thrown.getMessage());
        }
    }

    @Test
    void anotherClassesVarHandlesAreRefusedWhereThereArePersistentObjects() {
        BelowValve valve = persistent(BelowValve.class);
        refused(() -> Handle.TURNS.setVolatile(valve, 3));
        refused(() -> java.util.concurrent.atomic.AtomicIntegerFieldUpdater.newUpdater(Valve.class, "turns"));
        refused(() -> java.lang.invoke.ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "turns",
                VarHandle.class, Valve.class, int.class));
        valve.turns = 1;
        assertEquals(1, valve.turns);
    }

    static class Tap {
        volatile int turns;
    }

    static class BelowTap extends Tap {}

    @Test
    void andPersistentObjectsWhereThereAreSuchHandles() throws Exception {
        VarHandle turns = MethodHandles.lookup().findVarHandle(BelowTap.class, "turns", int.class);
        Tap tap = new BelowTap();
        assertEquals(0, (int) turns.getAndAdd(tap, 2));
        assertEquals(2, tap.turns);
        String message = assertThrows(SASException.class, () -> persistent(Tap.class)).getMessage();
        assertTrue(message.contains("instances of " + Tap.class.getName()
                + " cannot be persistent: its field turns is used through a VarHandle"), message);
    }
}
