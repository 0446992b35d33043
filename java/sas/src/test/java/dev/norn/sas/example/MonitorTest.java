package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.SASException;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Monitors: temporary objects have Java's, on every way out of a method; persistent ones have the object's lock, and
 * never the monitor of a handle.
 */
@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MonitorTest {
    @TempDir
    Path directory;
    private Store store;
    private Turnstile turnstile;

    @BeforeEach
    void open() {
        Store.create(directory.resolve("store"), Stores.SMALL.withLockTimeoutMillis(3_000)).close();
        store = Store.open(directory.resolve("store"), SubObjects.ADOPT);
        turnstile = Factory.newPermInstance(Turnstile.class);
    }

    @AfterEach
    void close() {
        try {
            Stores.check(store);
        } finally {
            store.close();
        }
    }

    /**
     * The thread that waits for the object's lock inside a synchronized method must not keep the lock's holder out of
     * another one.
     */
    @Test
    void twoThreadsMayUseOneHandle() throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Transaction.begin();
        turnstile.pass();
        Thread other = Thread.ofPlatform().start(() -> {
            Transaction.begin();
            try {
                turnstile.pass();
                Transaction.commit();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        while (other.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        turnstile.pass();
        Transaction.commit();
        other.join();
        assertNull(thrown.get());
        assertEquals(3, turnstile.passed());
    }

    @Test
    void noMonitorOfAHandleIsEntered() {
        Transaction.run(() -> {
            assertFalse(turnstile.during(() -> Turnstile.isHeld(turnstile)));
            assertFalse(turnstile.duringBlock(() -> Turnstile.isHeld(turnstile)));
        });
        assertThrows(SASException.class, turnstile::pass, "there is no transaction that would hold the lock");
    }

    @Test
    void aTemporaryObjectsMonitorIsEnteredAndLeftOnEveryWay() throws Exception {
        Turnstile temporary = new Turnstile();
        useOnEveryWay(temporary);
        assertTrue(temporary.during(() -> Turnstile.isHeld(temporary)));
        assertTrue(temporary.during(() -> temporary.duringBlock(() -> Turnstile.isHeld(temporary))));
        assertFalse(Turnstile.isHeld(temporary));
        long count = 50_000;
        Runnable many = () -> {
            for (int i = 0; i < count; i++) {
                temporary.pass();
            }
        };
        long before = temporary.passed();
        Thread other = Thread.ofPlatform().start(many);
        many.run();
        other.join();
        assertEquals(before + 2 * count, temporary.passed());
    }

    @Test
    void aPersistentObjectsMethodsEndOnEveryWay() {
        Transaction.run(() -> useOnEveryWay(turnstile));
    }

    private static void useOnEveryWay(Turnstile turnstile) {
        for (int i = 0; i < 2; i++) {
            assertEquals(0, turnstile.pass(0, null));
            assertEquals(turnstile.passed(), turnstile.pass(1, new Object[] {""}));
            assertEquals(3, turnstile.pass(5, new Object[] {1, "2"}));
            assertThrows(IllegalArgumentException.class, () -> turnstile.pass(2, new Object[] {"x"}));
            assertThrows(NullPointerException.class, () -> turnstile.pass(2, null));
            assertThrows(UnsupportedOperationException.class, turnstile::never);
            assertThrows(ArithmeticException.class,
                    () -> turnstile.during(() -> 1 / (turnstile.passed() - turnstile.passed())));
            assertFalse(Turnstile.isHeld(turnstile));
        }
        assertEquals(6, turnstile.passed());
    }

    /**
     * Who entered the monitor while the object was temporary leaves that monitor, although the object has another one
     * now.
     */
    @Test
    void anObjectMayBecomePersistentWhileItsMonitorIsHeld() {
        for (int way = 0; way < 2; way++) {
            Turnstile fresh = new Turnstile();
            Runnable adopt = () -> turnstile.beside = fresh;
            Transaction.run(() -> {
                adopt.run();
                fresh.pass();
            });
            assertTrue(Factory.isPersistent(fresh));
            Turnstile held = new Turnstile();
            boolean isBlock = way == 1;
            Transaction.run(() -> {
                java.util.function.Supplier<Object> inside = () -> {
                    turnstile.beside = held;
                    assertTrue(Factory.isPersistent(held));
                    held.duringBlock(held::pass);
                    return held.pass();
                };
                assertEquals(2L, isBlock ? held.duringBlock(inside) : held.during(inside));
            });
            assertFalse(Turnstile.isHeld(held));
            assertEquals(2, held.passed());
        }
    }

    @Test
    void theModifierIsGone() throws Exception {
        assertFalse(Modifier.isSynchronized(Turnstile.class.getDeclaredMethod("pass").getModifiers()));
    }
}
