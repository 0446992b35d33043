package dev.norn.sas.store.log;

import dev.norn.sas.Store;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import java.io.IOException;
import java.nio.file.Path;

/** Where the redo log's bytes are in its file. */
public final class LogBytes {
    /** What a log's file has before the ring. */
    public static final int HEADER_BYTES = LogFile.HEADER_BYTES;

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

    /** Bytes of the ring that are left before the log continues at its start. */
    public static long bytesToTurn(Store store) {
        long ring = Memory.getVolatile(Format.LOG_RING);
        return store.attached().isOpen() ? ring - Memory.getVolatile(Format.LOG_TAIL) % ring : 0;
    }

    /** The place in the file of a byte of the log, counted from the log's beginning. */
    public int place(long at) {
        return LogFile.HEADER_BYTES + (int) ((header.beginning() + at) % header.ring());
    }

    public long ring() {
        return header.ring();
    }
}
