package dev.norn.crash.program;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * The latches of a store that somebody has, as its pool's words say; docs/format/sas.md says where they are. Others
 * have them for moments; one that is kept stays.
 */
final class LatchWords {
    private static final long[] OF_STORE = {64, 192, 200};
    private static final int CONTAINER_BITS = 30;
    private static final int FIRST_CONTAINER = 16;
    private static final int CONTAINERS_MAX = 64;
    private static final int CONTAINER_MAGIC = 0;
    private static final int CONTAINER_PAGES = 64;
    private static final int CONTAINER_GROW_LATCH = 72;
    private static final int DESCRIPTORS = 4096;
    private static final int DESCRIPTOR_BYTES = 64;
    private static final int DESCRIPTOR_LATCH = 32;
    private static final int LOOKS = 100;
    private static final long BETWEEN_LOOKS_NANOS = 10_000_000;

    private LatchWords() {}

    /** Those whose word is the same at each of many looks within a second; returns at once where no latch is held. */
    static Map<Long, Long> kept(Path pool) throws IOException {
        try (FileChannel file = FileChannel.open(pool, StandardOpenOption.READ)) {
            Map<Long, Long> kept = look(file);
            for (int look = 1; look < LOOKS && !kept.isEmpty(); look++) {
                LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
                kept.entrySet().retainAll(look(file).entrySet());
            }
            return kept;
        }
    }

    private static Map<Long, Long> look(FileChannel file) throws IOException {
        Map<Long, Long> held = new HashMap<>();
        for (long word : OF_STORE) {
            note(held, word, read(file, word, Long.BYTES).getLong(0));
        }
        for (long container = FIRST_CONTAINER; container < FIRST_CONTAINER + CONTAINERS_MAX; container++) {
            long base = container << CONTAINER_BITS;
            ByteBuffer header = read(file, base, DESCRIPTOR_BYTES * 2);
            if (header.getLong(CONTAINER_MAGIC) != 0) {
                note(held, base + CONTAINER_GROW_LATCH, header.getLong(CONTAINER_GROW_LATCH));
                lookAtPages(file, base + DESCRIPTORS, (int) header.getLong(CONTAINER_PAGES), held);
            }
        }
        return held;
    }

    private static void lookAtPages(FileChannel file, long descriptors, int pages, Map<Long, Long> held)
            throws IOException {
        ByteBuffer all = read(file, descriptors, pages * DESCRIPTOR_BYTES);
        for (int at = DESCRIPTOR_LATCH; at < all.capacity(); at += DESCRIPTOR_BYTES) {
            note(held, descriptors + at, all.getLong(at));
        }
    }

    private static void note(Map<Long, Long> held, long word, long value) {
        if (value != 0) {
            held.put(word, value);
        }
    }

    private static ByteBuffer read(FileChannel file, long at, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        while (bytes.hasRemaining() && file.read(bytes, at + bytes.position()) > 0) {
            // Until it is full or the file ends.
        }
        return bytes;
    }
}
