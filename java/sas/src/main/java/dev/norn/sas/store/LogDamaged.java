package dev.norn.sas.store;

import dev.norn.sas.StorageReadFailure;
import java.nio.file.Path;

/** The log has lost records that were durable: it is not replayed, unless somebody accepts that. */
final class LogDamaged extends StorageReadFailure {
    private static final long serialVersionUID = 1;

    private final String reason;
    private final boolean isOfRecords;

    private LogDamaged(Path log, String reason, boolean isOfRecords) {
        super("the log " + log + " is damaged: " + reason + ". Restore the store from a backup, or end all programs that use it and let `sas recover --accept-loss "
                + log.getParent() + "` go on with what was committed before the damage");
        this.reason = reason;
        this.isOfRecords = isOfRecords;
    }

    /** The log as a whole cannot be used: it is not there, or not the store's. */
    static LogDamaged wholly(Path log, String reason) {
        return new LogDamaged(log, reason, false);
    }

    /** Records are missing, from a place on. */
    static LogDamaged partly(Path log, String reason) {
        return new LogDamaged(log, reason, true);
    }

    /** What is wrong with the log. */
    String reason() {
        return reason;
    }

    /** Whether the records before the damage can be used. */
    boolean isOfRecords() {
        return isOfRecords;
    }
}
