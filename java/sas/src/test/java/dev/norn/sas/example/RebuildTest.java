package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.ContainerDamaged;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.transaction.Generations;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pool is lost, and made again from the containers' files. Pages that only an undone transaction used are blank in
 * the files: what follows them is loaded, too.
 */
class RebuildTest {
    /** Pages of which a page of descriptors has the descriptors. */
    private static final int GROUP = 64;

    @TempDir
    Path directory;

    static class Document {
        int number;
        String text;
        Document before;
    }

    static class Shelf {
        Document last;
    }

    private static Document document(Container container, int number, Document before) {
        Document fresh = Factory.newInstanceIn(Document.class, container);
        fresh.number = number;
        // One a page.
        fresh.text = number + "x".repeat(3000);
        fresh.before = before;
        return fresh;
    }

    private static void add(Store store, int from, int to) {
        Container main = store.container("main");
        Shelf shelf = store.root("shelf", Shelf.class);
        for (int i = from; i < to; i++) {
            int number = i;
            Transaction.run(() -> shelf.last = document(main, number, shelf.last));
        }
    }

    private static int count(Store store) {
        return Transaction.call(() -> {
            int count = 0;
            for (Document at = store.root("shelf", Shelf.class).last; at != null; at = at.before) {
                assertEquals(at.number + "x".repeat(3000), at.text);
                count++;
            }
            return count;
        });
    }

    /**
     * A store with documents, of which another thread has pages that it gives back undone: {@code groups} pages of
     * descriptors, and some more.
     */
    private Path withUndone(int groups) throws Exception {
        Path at = directory.resolve("store");
        try (Store store = Store.create(at, Stores.SMALL)) {
            Container main = store.container("main");
            store.setRoot("shelf", Factory.newInstanceIn(Shelf.class, main));
            add(store, 0, 20);
            CountDownLatch isMade = new CountDownLatch(1);
            CountDownLatch isOver = new CountDownLatch(1);
            Thread undone = Thread.ofPlatform().start(() -> {
                Transaction.begin();
                for (int i = 0; i < (groups + 1) * GROUP; i++) {
                    document(main, i, null);
                }
                isMade.countDown();
                await(isOver);
                Transaction.abort();
            });
            await(isMade);
            add(store, 20, 60);
            isOver.countDown();
            undone.join();
            store.attached().backup(directory.resolve("backup"));
        }
        return Stores.withoutPool(at, directory.resolve("copy"));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void pagesBehindThoseOfAnUndoneTransactionAreLoaded() throws Exception {
        for (Path copy : new Path[] {withUndone(3), directory.resolve("backup")}) {
            try (Store store = Store.open(copy)) {
                assertEquals(60, count(store), "documents of " + copy);
                add(store, 60, 60 + 5 * GROUP);
                assertEquals(60 + 5 * GROUP, count(store), "new documents have pages of their own");
                Stores.check(store);
            }
        }
    }

    @Test
    void generationsOfPagesBehindThemAreNotGivenOutAgain() throws Exception {
        long last;
        int committed;
        Path copy = withUndone(2);
        try (Store store = Store.open(copy)) {
            Shelf shelf = store.root("shelf", Shelf.class);
            Document document = shelf.last;
            last = Generations.reference(document);
            committed = Format.generationOf(Generations.header(document));
            Transaction.run(() -> {
                shelf.last = document.before;
                Factory.destroyInstance(document);
            });
            assertTrue(Generations.of(store, last) > committed);
        }
        // What else the page gave out was undone, or is behind: no reference that lasts names it.
        try (Store store = Store.open(Stores.withoutPool(copy, directory.resolve("again")))) {
            assertEquals(59, count(store));
            assertTrue(Generations.of(store, last) > committed);
        }
    }

    @Test
    void aFileThatIsCutOffBeforePagesWhoseDescriptorsLieBehindBlankOnesIsLeftOut() throws Exception {
        Path copy = withUndone(3);
        try (Store store = Store.open(copy)) {
            assertEquals(60, count(store));
        }
        Path cut = Stores.withoutPool(copy, directory.resolve("cut"));
        try (var file = FileChannel.open(cut.resolve("main.container"), StandardOpenOption.WRITE)) {
            // After the first documents, within the pages that are blank.
            file.truncate(file.size() - (40 + GROUP) * 4096L);
        }
        try (Store store = Store.open(cut)) {
            var thrown = assertThrows(ContainerDamaged.class, () -> count(store));
            assertTrue(thrown.getMessage().contains("main.container is missing, cut off"), thrown.getMessage());
        }
    }

    @Test
    void aPageThatHasLostItsDescriptorIsDamage() throws Exception {
        Path copy = withUndone(1);
        try (Store store = Store.open(copy)) {
            assertEquals(60, count(store));
        }
        Path damaged = Stores.withoutPool(copy, directory.resolve("damaged"));
        try (var file = FileChannel.open(damaged.resolve("main.container"), StandardOpenOption.WRITE)) {
            // The descriptors of the first pages, as if they had never been written.
            file.write(ByteBuffer.allocate(4096), 4096);
        }
        try (Store store = Store.open(damaged)) {
            var thrown = assertThrows(ContainerDamaged.class, () -> count(store));
            assertTrue(thrown.getMessage().contains("container main is damaged at page"), thrown.getMessage());
        }
    }
}
