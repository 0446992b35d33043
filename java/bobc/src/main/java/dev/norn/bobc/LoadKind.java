package dev.norn.bobc;

import java.nio.file.Path;

/** What {@code bobc load} can fill. All of them sync each commit. */
enum LoadKind {
    SAS("SAS", PeerKind.SAS) {
        @Override
        LoadTarget open(Path directory, int objects) {
            return new SasLoadTarget(directory, objects);
        }
    },
    SQLITE("SQLite, WAL, synchronous FULL", PeerKind.SQLITE) {
        @Override
        LoadTarget open(Path directory, int objects) throws Exception {
            return new SqliteLoadTarget(directory);
        }
    },
    MVSTORE("H2's MVStore, synced", PeerKind.H2) {
        @Override
        LoadTarget open(Path directory, int objects) {
            return new MvStoreLoadTarget(directory);
        }
    };

    final String title;
    /** Whose JVM it needs. */
    final PeerKind jvm;

    LoadKind(String title, PeerKind jvm) {
        this.title = title;
        this.jvm = jvm;
    }

    /** Makes an empty one. */
    abstract LoadTarget open(Path directory, int objects) throws Exception;
}
