package dev.norn.sas.store;

import dev.norn.sas.Store;
import java.io.IOException;
import java.nio.file.Path;

/** Where the redo log's bytes are in its file. */
public final class LogBytes {
    private final LogFile.Header header;

    private LogBytes(LogFile.Header header) {
        this.header = header;
    }

    /** Of a store's log as it is now. */
    public static LogBytes of(Path store) throws IOException {
        try (LogFile file = new LogFile(store.resolve("redo.log"))) {
            file.open();
            return new LogBytes(file.readHeader());
        }
    }

    /** Bytes of the ring that are left before the log goes on at its start. */
    public static long bytesToTurn(Store store) {
        long ring = Memory.getVolatile(Format.LOG_RING);
        return store.pool().isOpen() ? ring - Memory.getVolatile(Format.LOG_TAIL) % ring : 0;
    }

    /** Does something while a checkpoint, or a backup, goes on. */
    public static void duringCheckpoint(Store store, Runnable action) throws IOException {
        Slot slot = store.pool().slots().claim();
        try {
            store.pool().log().checkpointAnd(slot, action::run);
        } finally {
            store.pool().slots().release(slot);
        }
    }

    /** The place in the file of a byte of the log, counted from the log's beginning. */
    public int place(long at) {
        return LogFile.HEADER_BYTES + (int) ((header.beginning() + at) % header.ring());
    }

    public long ring() {
        return header.ring();
    }
}
