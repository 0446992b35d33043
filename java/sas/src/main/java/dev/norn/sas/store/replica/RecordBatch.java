package dev.norn.sas.store.replica;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * What members of a group get from each other, in one order: records of a leader, or that another one leads.
 *
 * <pre>
 * version (32) | count (32) | epoch (64) | first (64) | count times: length (32) | operations of a record
 *   count  of records; -1: none, another epoch begins
 *   first  the number of the first record
 * </pre>
 *
 * @param epoch of the leader whose records these are
 * @param first the number of the first record
 * @param records the operations of each; null where another epoch begins
 */
public record RecordBatch(long epoch, long first, List<ByteBuffer> records) {
    private static final int VERSION = 1;
    private static final int HEADER_BYTES = 24;
    private static final int BEGINNING = -1;

    /** Says that a leader begins. */
    static RecordBatch beginning(long epoch) {
        return new RecordBatch(epoch, 0, null);
    }

    boolean isBeginning() {
        return records == null;
    }

    /** The number of the last record. */
    long last() {
        return first + records.size() - 1;
    }

    public byte[] encode() {
        int bytes = HEADER_BYTES;
        for (int i = 0; records != null && i < records.size(); i++) {
            bytes += 4 + records.get(i).remaining();
        }
        ByteBuffer to = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        to.putInt(VERSION).putInt(records == null ? BEGINNING : records.size()).putLong(epoch).putLong(first);
        for (int i = 0; records != null && i < records.size(); i++) {
            to.putInt(records.get(i).remaining()).put(records.get(i).duplicate());
        }
        return to.array();
    }

    /** @throws IllegalArgumentException if these are not the bytes of a batch */
    public static RecordBatch decode(byte[] bytes) {
        ByteBuffer from = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        if (bytes.length < HEADER_BYTES || from.getInt() != VERSION) {
            throw new IllegalArgumentException(bytes.length + " bytes are no records of this version");
        }
        int count = from.getInt();
        long epoch = from.getLong();
        long first = from.getLong();
        if (count == BEGINNING) {
            return beginning(epoch);
        }
        List<ByteBuffer> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int length = from.remaining() < 4 ? -1 : from.getInt();
            if (length < 0 || length > from.remaining()) {
                throw new IllegalArgumentException("record " + i + " of " + count + " is cut off");
            }
            records.add(from.slice(from.position(), length).order(ByteOrder.LITTLE_ENDIAN));
            from.position(from.position() + length);
        }
        return new RecordBatch(epoch, first, records);
    }
}
