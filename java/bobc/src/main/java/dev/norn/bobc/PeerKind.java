package dev.norn.bobc;

import dev.norn.bobc.model.Company;
import dev.norn.bobc.workload.Scale;
import dev.norn.sas.runtime.SasObject;
import java.nio.file.Path;
import java.util.List;

/** What can run the benchmark. */
enum PeerKind {
    PLAIN("plain Java objects", Durability.NONE, Data.ON_THE_HEAP),
    TEMPORARY("the same, transformed, temporary", Durability.NONE, Data.ON_THE_HEAP),
    SAS("SAS: the same, persistent", Durability.MACHINE, Data.ELSEWHERE),
    SQLITE("SQLite, WAL, synchronous FULL", Durability.MACHINE, Data.ELSEWHERE),
    LMDB("LMDB, default sync", Durability.MACHINE, Data.ELSEWHERE),
    H2("H2, write delay 0", Durability.PROCESS, Data.ELSEWHERE),
    HIBERNATE("Hibernate over that H2", Durability.PROCESS, Data.ELSEWHERE),
    ECLIPSESTORE("EclipseStore", Durability.PROCESS, Data.ON_THE_HEAP);

    /** What a committed transaction survives. */
    enum Durability {
        MACHINE("a stop of the machine"),
        PROCESS("a killed process; a stop of the machine may cost commits"),
        NONE("nothing");

        final String survives;

        Durability(String survives) {
            this.survives = survives;
        }
    }

    /**
     * Where the data are while it runs: those on the heap grow with every order, so the heap bounds how long a run can
     * be.
     */
    enum Data {
        ON_THE_HEAP, ELSEWHERE
    }

    final String title;
    final Durability durability;
    final Data data;

    PeerKind(String title, Durability durability, Data data) {
        this.title = title;
        this.durability = durability;
        this.data = data;
    }

    boolean needsAgent() {
        return this == TEMPORARY || this == SAS;
    }

    /** Whether its transactions are those of the model's objects, which build screens. */
    boolean hasScreens() {
        return this == PLAIN || needsAgent() || this == ECLIPSESTORE;
    }

    /** The options that its JVM needs: some libraries use what the JDK keeps to itself. */
    List<String> jvmOptions() {
        return switch (this) {
            case LMDB -> List.of("--add-opens=java.base/java.nio=ALL-UNNAMED",
                    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");
            case ECLIPSESTORE -> List.of("--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow");
            default -> List.of();
        };
    }

    /** @throws IllegalStateException if this JVM has the agent and should not, or the other way round */
    Peer open(Path directory, Scale scale, String pool) {
        if (hasScreens()) {
            boolean isTransformed = SasObject.class.isAssignableFrom(Company.class);
            if (isTransformed != needsAgent()) {
                throw new IllegalStateException(this + " runs " + (needsAgent() ? "with" : "without")
                        + " -javaagent:norn-sas.jar=packages=dev.norn.bobc.model");
            }
        }
        return switch (this) {
            case PLAIN, TEMPORARY -> new PlainPeer();
            case SAS -> new SasPeer(directory.resolve("store"), scale, pool);
            case SQLITE -> new SqlPeer(SqlDialect.SQLITE, directory);
            case LMDB -> new LmdbPeer(directory);
            case H2 -> new SqlPeer(SqlDialect.H2, directory);
            case HIBERNATE -> new HibernatePeer(directory);
            case ECLIPSESTORE -> new EclipseStorePeer(directory, scale);
        };
    }
}
