package dev.norn.sas.store.transaction;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/**
 * What of a file is durable: a shadow of it that only syncs change, and the blocks that were written since. A disk may
 * have written any of these, in any order, when the power is cut.
 */
final class Durable {
    private static final int BLOCK_BYTES = 512;

    private final FileChannel channel;
    private byte[] shadow;
    /** The present content of each block that was written and not synced. */
    private final Map<Integer, byte[]> written = new HashMap<>();

    Durable(FileChannel channel) {
        this.channel = channel;
    }

    private byte[] shadow() throws IOException {
        if (shadow == null) {
            ByteBuffer all = ByteBuffer.allocate((int) channel.size());
            while (all.hasRemaining() && channel.read(all, all.position()) > 0) {
                // Until the file ends.
            }
            shadow = all.array();
        }
        return shadow;
    }

    synchronized int write(ByteBuffer from, long position) throws IOException {
        shadow();
        int bytes = channel.write(from, position);
        for (int block = (int) (position / BLOCK_BYTES); (long) block * BLOCK_BYTES < position + bytes; block++) {
            ByteBuffer content = ByteBuffer.allocate(BLOCK_BYTES);
            channel.read(content, (long) block * BLOCK_BYTES);
            written.put(block, content.array());
        }
        return bytes;
    }

    void force(boolean metaData) throws IOException {
        Map<Integer, byte[]> synced;
        synchronized (this) {
            synced = new HashMap<>(written);
        }
        channel.force(metaData);
        synchronized (this) {
            synced.forEach((block, content) -> {
                put(shadow, block, content);
                // A block that was written again meanwhile is not synced.
                written.remove(block, content);
            });
        }
    }

    private static void put(byte[] into, int block, byte[] content) {
        int at = block * BLOCK_BYTES;
        if (at < into.length) {
            System.arraycopy(content, 0, into, at, Math.min(BLOCK_BYTES, into.length - at));
        }
    }

    synchronized byte[] afterPowerCut(Random random, double share) throws IOException {
        byte[] left = Arrays.copyOf(shadow(), shadow().length);
        written.forEach((block, content) -> {
            if (random.nextDouble() < share) {
                put(left, block, content);
            }
        });
        return left;
    }
}
