package dev.norn.sas.example;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.log.ReplayedFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replaying a log that is longer than what is read of it at a time, with records of all lengths, among them one that is
 * longer than that by itself.
 */
class LogReplayTest {
    private static final int WINDOW_LONGS = (1 << 20) / 8;
    @TempDir
    Path directory;

    /**
     * A replay that was cut off may have made the file longer, which is not durable because it can be seen: a
     * descriptor that is durable before it says that the file was cut off.
     */
    @Test
    void aFileIsAsLongAsItsDescriptorsSayBeforeTheyDo() throws Exception {
        try (Store store = Store.create(directory.resolve("long"), Stores.SMALL)) {
            Account ann = Factory.newInstanceIn(Account.class, store.container("main"), 1, "Ann");
            store.attached().checkpoint();
            List<Boolean> done = ReplayedFile.replayInto(store, ann);
            assertTrue(done.contains(false) && done.contains(true), "both are written: " + done);
            assertTrue(done.subList(0, done.indexOf(true)).contains(null),
                    "a sync comes before the first descriptor: " + done);
        }
    }

    /** An object whose array makes its record as long as wanted. */
    static class Block {
        long[] content;
    }

    private static long[] content(long seed, int length) {
        return new Random(seed).longs(length).toArray();
    }

    private static int length(int number) {
        return number == 20 ? 3 * WINDOW_LONGS / 2
                : new Random(number).nextInt(number % 3 == 0 ? WINDOW_LONGS / 2 : 60);
    }

    @Test
    void recordsOfAllLengthsAreFound() {
        int count = 60;
        Path at = directory.resolve("store");
        Path copy = directory.resolve("copy");
        try (Store store = Store.create(at, Store.Options.defaults().withLogBytes(64 << 20))) {
            for (int i = 0; i < count; i++) {
                int number = i;
                Transaction.run(() -> {
                    Block block = Factory.newPermInstance(Block.class);
                    block.content = Factory.newLongArrayNear(length(number), block);
                    System.arraycopy(content(number, length(number)), 0, block.content, 0, length(number));
                    store.setRoot("block " + number, block);
                });
            }
            assertEquals(0, store.attached().counts().checkpoints(), "all of it is in the log still");
            Stores.withoutPool(at, copy);
        }
        try (Store store = Store.open(copy)) {
            for (int i = 0; i < count; i++) {
                int number = i;
                Transaction.run(() -> assertArrayEquals(content(number, length(number)),
                        store.root("block " + number, Block.class).content));
            }
            assertNull(store.root("block " + count, Block.class));
            Stores.check(store);
        }
    }
}
