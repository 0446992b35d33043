package dev.norn.sas.store.log;

import dev.norn.sas.exception.StorageReadFailure;
import java.nio.file.Path;

/** The log has lost records that were durable: it is not replayed, unless somebody accepts that. */
public final class LogDamaged extends StorageReadFailure {
    private static final long serialVersionUID = 1;

    /** What is lost of the log. */
    enum Extent {
        /** The log as a whole cannot be used: it is not there, or not the store's. */
        ALL,
        /** Records are missing, from a place on. */
        RECORDS,
        /** The log is whole, but what waits for a container's file is not. */
        WAITING
    }

    private final String reason;
    private final Extent extent;

    private LogDamaged(Path log, String reason, Extent extent) {
        super("the log " + log + " is damaged: " + reason + ". Restore the store from a backup, "
                + "or end all programs that use it and let `sas recover --accept-loss " + log.getParent()
                + "` go on with what was committed before the damage");
        this.reason = reason;
        this.extent = extent;
    }

    static LogDamaged wholly(Path log, String reason) {
        return new LogDamaged(log, reason, Extent.ALL);
    }

    static LogDamaged partly(Path log, String reason) {
        return new LogDamaged(log, reason, Extent.RECORDS);
    }

    static LogDamaged ofWaiting(Path file, long place) {
        return new LogDamaged(file, "no valid record is at byte " + place + " of " + file.getFileName() + ", and "
                + "records after that were durable", Extent.WAITING);
    }

    /** What is wrong with the log. */
    public String reason() {
        return reason;
    }

    Extent extent() {
        return extent;
    }
}
