package dev.norn.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.StringJoiner;

/**
 * The words of a pool's control area that are not 0, for finding a latch that is never given back: docs/format/sas.md
 * says what they are.
 */
final class StoreWords {
    private static final int HEADER_WORDS = 64;
    private static final int PROCESSES = 4096;
    private static final int SLOTS = 8192;
    private static final int SLOTS_MAX = 48;
    private static final int SLOT_BYTES = 128;

    private StoreWords() {}

    static String describe(Path pool) {
        ByteBuffer bytes = ByteBuffer.allocate(SLOTS + SLOTS_MAX * SLOT_BYTES).order(ByteOrder.nativeOrder());
        try (FileChannel file = FileChannel.open(pool)) {
            file.read(bytes, 0);
        } catch (IOException e) {
            return "no words of the pool: " + e;
        }
        StringJoiner text = new StringJoiner("\n");
        text.add(words(bytes, "header", 0, HEADER_WORDS));
        text.add(words(bytes, "processes", PROCESSES, (SLOTS - PROCESSES) / 8));
        for (int slot = 0; slot < SLOTS_MAX; slot++) {
            if (bytes.getLong(SLOTS + slot * SLOT_BYTES) != 0) {
                text.add(words(bytes, "slot " + slot, SLOTS + slot * SLOT_BYTES, SLOT_BYTES / 8));
            }
        }
        return text.toString();
    }

    private static String words(ByteBuffer bytes, String name, int from, int count) {
        StringJoiner text = new StringJoiner(" ", name + ":", "");
        text.setEmptyValue(name + ": all 0");
        for (int word = 0; word < count; word++) {
            long value = bytes.getLong(from + word * 8);
            if (value != 0) {
                text.add(" " + word * 8 + "=" + Long.toHexString(value));
            }
        }
        return text.toString();
    }
}
