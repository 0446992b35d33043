package dev.norn.bobc;

import java.nio.file.Path;

/** Whose accounts they are. */
enum HotKind {
    SAS("SAS"), POSTGRESQL("PostgreSQL"), SQLITE("SQLite, WAL, FULL"), PROBE("probe: append 4 KB, fdatasync");

    final String title;

    HotKind(String title) {
        this.title = title;
    }

    /** Whose options its JVM needs. */
    PeerKind jvm() {
        return switch (this) {
            case SAS -> PeerKind.SAS;
            case SQLITE -> PeerKind.SQLITE;
            default -> throw new IllegalStateException(this + " has no JVM of its own");
        };
    }

    /** Makes the accounts in a directory that has none. */
    void create(Path directory, int objects) {
        switch (this) {
            case SAS -> HotSas.create(directory, objects);
            case SQLITE -> HotSqlite.create(directory, objects);
            default -> throw new IllegalStateException(this + " is not driven from a JVM");
        }
    }

    HotPeer open(Path directory) {
        return switch (this) {
            case SAS -> new HotSas(directory);
            case SQLITE -> new HotSqlite(directory);
            default -> throw new IllegalStateException(this + " is not driven from a JVM");
        };
    }
}
