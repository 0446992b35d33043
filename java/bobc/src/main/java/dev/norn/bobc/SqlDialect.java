package dev.norn.bobc;

import dev.norn.bobc.workload.Request;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;

/** How the databases differ. */
enum SqlDialect {
    /** Write-ahead log, synced at each commit. One writer at a time; a transaction takes its place at its beginning. */
    SQLITE {
        @Override
        String url(Path directory) {
            return "jdbc:sqlite:" + directory.resolve("bobc.sqlite")
                    + "?journal_mode=WAL&synchronous=FULL&busy_timeout=60000&cache_size=-262144";
        }

        @Override
        List<String> settings() {
            return List.of();
        }

        /**
         * The driver would take the only writer's place at the end of one transaction for the next, so transactions are
         * begun by hand.
         */
        @Override
        String begin(Request.Kind kind) {
            return kind == Request.Kind.ORDER_STATUS || kind == Request.Kind.STOCK_LEVEL ? "begin" : "begin immediate";
        }

        @Override
        String keyedTable() {
            return " without rowid";
        }

        @Override
        String forUpdate() {
            return "";
        }

        @Override
        boolean isConflict(SQLException e) {
            return e.getErrorCode() == 5 || e.getErrorCode() == 6;
        }
    },
    /**
     * MVStore, no delay of writes; its manual says that it does not guarantee durability of all committed transactions.
     */
    H2 {
        @Override
        String url(Path directory) {
            return "jdbc:h2:file:" + directory.resolve("bobc").toAbsolutePath()
                    + ";CACHE_SIZE=262144;LOCK_TIMEOUT=10000;DB_CLOSE_ON_EXIT=FALSE";
        }

        @Override
        List<String> settings() {
            return List.of("set write_delay 0");
        }

        @Override
        String begin(Request.Kind kind) {
            return null;
        }

        @Override
        String keyedTable() {
            return "";
        }

        @Override
        String forUpdate() {
            return " for update";
        }

        @Override
        boolean isConflict(SQLException e) {
            return e.getErrorCode() == 40001 || e.getErrorCode() == 50200 || e.getErrorCode() == 90131
                    || e.getErrorCode() == 90039;
        }
    };

    abstract String url(Path directory);

    /** Executed for each connection. */
    abstract List<String> settings();

    /** What begins a transaction; null if JDBC does. */
    abstract String begin(Request.Kind kind);

    /** What follows the definition of a table with a key of several columns. */
    abstract String keyedTable();

    /** What follows a query that locks its row; nothing where transactions run alone. What it returns may be old. */
    abstract String forUpdate();

    /** Whether the transaction should be tried again: busy, deadlock, timeout or a concurrent update. */
    abstract boolean isConflict(SQLException e);
}
