package dev.norn.sas.store.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The records of a log, read one after the other from a window of the ring.
 *
 * <pre>
 * magic (32) | length (32) | position (64) | slot (64) | synced (64) | operations | check (64)
 * </pre>
 *
 * {@code synced} is the position up to which the log was known to be durable when the record was appended. Records of
 * {@link LogFile#VERSION_WITHOUT_SYNCED} have no such word. A record without operations is a mark: it says only what
 * was synced, and the next record is written over it.
 */
final class LogRecords {
    static final int HEADER_BYTES = 32;
    static final int CHECK_BYTES = 8;
    static final int MARK_BYTES = HEADER_BYTES + CHECK_BYTES;
    private static final int OLD_HEADER_BYTES = 24;
    private static final int MAGIC = 0x5341_5352;
    private static final int WINDOW_BYTES = 1 << 20;

    private final LogFile file;
    private final long ring;
    private final int headerBytes;
    private ByteBuffer window;
    private long windowAt;

    LogRecords(LogFile file, LogFile.Header header) {
        this(file, header.ring(), header.version() == LogFile.VERSION ? HEADER_BYTES : OLD_HEADER_BYTES, WINDOW_BYTES);
    }

    private LogRecords(LogFile file, long ring, int headerBytes, int windowBytes) {
        this.file = file;
        this.ring = ring;
        this.headerBytes = headerBytes;
        window = allocate(windowBytes).limit(0);
    }

    /** Of a log that is in use, of which about so many bytes are read. */
    static LogRecords inUse(LogFile file, long ring, long bytes) {
        return new LogRecords(file, ring, HEADER_BYTES, (int) Math.clamp(bytes, MARK_BYTES, WINDOW_BYTES));
    }

    /** A buffer for a record; its operations begin at the position. */
    static ByteBuffer allocate(int capacity) {
        return ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Completes a record whose operations end at the buffer's position; makes it ready to be written. */
    static ByteBuffer complete(ByteBuffer record, long position, long slot, long synced) {
        int end = record.position();
        record.putInt(0, MAGIC).putInt(4, end + CHECK_BYTES).putLong(8, position).putLong(16, slot).putLong(24, synced);
        return record.putLong(LogFile.check(record.array(), 0, end)).flip();
    }

    /** Moves the window's position to the place of the log; false if the file has fewer bytes there. */
    private boolean show(long position, int length) throws IOException {
        if (position < windowAt || position + length > windowAt + window.limit()) {
            if (length > window.capacity()) {
                window = allocate(length);
            }
            file.read(window.clear().limit((int) Math.min(window.capacity(), ring)), position, ring);
            window.flip();
            windowAt = position;
        }
        window.position((int) (position - windowAt));
        return window.remaining() >= length;
    }

    /**
     * The length of the record at {@code position}, to which the window's position is moved; 0 if none is valid there.
     */
    int find(long position) throws IOException {
        if (!show(position, headerBytes)) {
            return 0;
        }
        int at = window.position();
        int length = window.getInt(at + 4);
        if (window.getInt(at) != MAGIC || window.getLong(at + 8) != position || length < headerBytes + CHECK_BYTES
                || length > ring || !show(position, length)) {
            return 0;
        }
        at = window.position();
        return window.getLong(at + length - CHECK_BYTES) == LogFile.check(window.array(), at, length - CHECK_BYTES)
                ? length : 0;
    }

    /**
     * The length of the record at {@code at}, as {@link #find}, or of one that is there and names a position of a later
     * round of the ring: the newest header was lost then.
     */
    int findOfAnyRound(long at) throws IOException {
        if (!show(at, headerBytes) || window.getInt(window.position()) != MAGIC) {
            return 0;
        }
        long position = window.getLong(window.position() + 8);
        return position >= at && (position - at) % ring == 0 ? find(position) : 0;
    }

    /** All bytes of the record that was found. */
    ByteBuffer whole(int length) {
        return window.slice(window.position(), length);
    }

    /** The operations of the record that was found. */
    ByteBuffer operations(int length) {
        return window.slice(window.position() + headerBytes, length - headerBytes - CHECK_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Where the record that was found is in the log. */
    long position() {
        return window.getLong(window.position() + 8);
    }

    /** Up to where the log was durable before the record that was found was appended; 0 if it does not say. */
    long synced() {
        return headerBytes == HEADER_BYTES ? window.getLong(window.position() + 24) : 0;
    }
}
