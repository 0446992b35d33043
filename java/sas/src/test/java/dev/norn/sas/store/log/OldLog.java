package dev.norn.sas.store.log;

import dev.norn.sas.store.memory.Format;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes logs of format 2, which had no identity in the header, and did not say in its records what was synced:
 *
 * <pre>
 * header   magic | version 2 | beginning | length of the ring | check of these
 * record   magic "SASR" (32) | length (32) | position (64) | slot (64) | operations | check (64)
 * </pre>
 */
public final class OldLog {
    private static final int RECORD_HEADER_BYTES = 24;

    private OldLog() {}

    /**
     * Writes the log of a store that no process uses as format 2, with the same records in a ring that they go round.
     */
    public static void replace(Path store) throws IOException {
        Path path = store.resolve("redo.log");
        List<byte[]> operations = new ArrayList<>();
        try (LogFile file = new LogFile(path)) {
            file.open();
            LogFile.Header header = file.readHeader();
            LogRecords records = new LogRecords(file, header);
            long position = header.beginning();
            for (int length; (length = records.find(position)) != 0; position += length) {
                ByteBuffer its = records.operations(length);
                byte[] bytes = new byte[its.remaining()];
                its.get(bytes);
                operations.add(bytes);
            }
            Files.write(path, encode(operations, (int) header.ring()));
        }
        Files.writeString(store.resolve("store.properties"),
                Files.readString(store.resolve("store.properties")).replaceAll("log=.*\n", ""));
    }

    private static byte[] encode(List<byte[]> operations, int ring) {
        // The beginning is near the end of the ring.
        long beginning = 7L * ring - 200;
        ByteBuffer file = words(LogFile.HEADER_BYTES + ring);
        ByteBuffer header = words(40).putLong(Format.MAGIC).putLong(2).putLong(beginning).putLong(ring);
        file.put(0, header.putLong(LogFile.check(header.array(), 0, 32)).array());
        long position = beginning;
        for (byte[] its : operations) {
            if (its.length == 0) {
                // A mark, which format 2 has not.
                continue;
            }
            int length = RECORD_HEADER_BYTES + its.length + 8;
            ByteBuffer record = words(length).putInt(0x5341_5352).putInt(length).putLong(position).putLong(3).put(its);
            record.putLong(LogFile.check(record.array(), 0, length - 8));
            for (byte one : record.array()) {
                file.put(LogFile.HEADER_BYTES + (int) (position++ % ring), one);
            }
        }
        return file.array();
    }

    private static ByteBuffer words(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
