package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Threads and JVMs wait for persistent objects and notify each other; the same class does so in temporary form. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitTest {
    @TempDir
    Path directory;
    private Store store;
    private Mailbox mailbox;

    @BeforeEach
    void open() {
        store = Store.create(directory.resolve("store"), Stores.SMALL);
        mailbox = Factory.newPermInstance(Mailbox.class);
        store.setRoot("mailbox", mailbox);
    }

    @AfterEach
    void close() {
        Stores.check(store);
        store.close();
    }

    static <T> T unchecked(Callable<T> action) {
        try {
            return action.call();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void put(String text) {
        Transaction.run(() -> unchecked(() -> {
            mailbox.put(text);
            return null;
        }));
    }

    private static List<String> letters(int count) {
        return IntStream.range(0, count).mapToObj(i -> "letter " + i).toList();
    }

    @Test
    void lettersPassBetweenJvms() throws Exception {
        int count = 30;
        Process taker = Stores.start(MailboxProgram.class, directory.resolve("store"), count);
        letters(count).forEach(this::put);
        assertEquals(letters(count), new String(taker.getInputStream().readAllBytes()).lines().toList());
        assertEquals(0, taker.waitFor());
        assertEquals(count, mailbox.taken());
    }

    @Test
    void lettersPassBetweenThreads() throws Exception {
        Thread putter = Thread.ofPlatform().start(() -> letters(20).forEach(this::put));
        for (String letter : letters(20)) {
            assertEquals(letter, Transaction.call(() -> unchecked(() -> mailbox.take())));
        }
        putter.join();
    }

    @Test
    void waitingEndsInTimeAndWhenInterrupted() throws Exception {
        long start = System.nanoTime();
        assertNull(Transaction.call(() -> unchecked(() -> mailbox.poll(50))));
        assertTrue(System.nanoTime() - start >= 50_000_000);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread waiting = Thread.ofPlatform().start(() -> {
            try {
                Transaction.run(() -> unchecked(mailbox::take));
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        Thread.sleep(50);
        waiting.interrupt();
        waiting.join();
        assertTrue(thrown.get().getCause() instanceof InterruptedException, String.valueOf(thrown.get()));
        put("the lock is free");
    }

    @Test
    void onlyWhoHasTheMonitorMayWaitAndNotify() {
        assertThrows(IllegalMonitorStateException.class, () -> mailbox.notifyAll());
        assertThrows(IllegalMonitorStateException.class, () -> Transaction.run(() -> mailbox.notify()));
        assertThrows(IllegalMonitorStateException.class, () -> Transaction.run(() -> unchecked(() -> {
            mailbox.wait(1);
            return null;
        })));
    }

    @Test
    void theSameClassWaitsInTemporaryForm() throws Exception {
        Mailbox temporary = new Mailbox();
        Thread putter = Thread.ofPlatform().start(() -> unchecked(() -> {
            temporary.put("a letter");
            return null;
        }));
        assertEquals("a letter", temporary.take());
        putter.join();
    }
}
