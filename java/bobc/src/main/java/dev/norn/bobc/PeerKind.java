package dev.norn.bobc;

import dev.norn.bobc.model.Company;
import dev.norn.sas.runtime.SasObject;
import java.nio.file.Path;

/** What can run the benchmark. */
enum PeerKind {
    /** The classes as they are compiled. */
    PLAIN,
    /** The same, transformed by the agent, but not persistent. */
    TEMPORARY,
    /** Transformed and persistent. */
    SAS, SQLITE, H2;

    boolean needsAgent() {
        return this == TEMPORARY || this == SAS;
    }

    boolean isDurable() {
        return this == SAS || this == SQLITE || this == H2;
    }

    /** @throws IllegalStateException if this JVM has the agent and should not, or the other way round */
    Peer open(Path directory, Scale scale, String pool) {
        if (this == PLAIN || needsAgent()) {
            boolean isTransformed = SasObject.class.isAssignableFrom(Company.class);
            if (isTransformed != needsAgent()) {
                throw new IllegalStateException(this + " runs " + (needsAgent() ? "with" : "without") + " -javaagent:norn-sas.jar=packages=dev.norn.bobc.model");
            }
        }
        return switch (this) {
            case PLAIN, TEMPORARY -> new PlainPeer();
            case SAS -> new SasPeer(directory.resolve("store"), scale, pool);
            case SQLITE -> new SqlPeer(SqlDialect.SQLITE, directory);
            case H2 -> new SqlPeer(SqlDialect.H2, directory);
        };
    }
}
