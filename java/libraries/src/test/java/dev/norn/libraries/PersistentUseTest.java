package dev.norn.libraries;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Libraries' classes work in persistent form: pairs, builders, trees, hash tables and queues of Commons and Guava. */
class PersistentUseTest {
    @Test
    void aStrangersClassesHavePersistentInstances(@TempDir Path directory) {
        Workload.run(directory.resolve("store"));
    }
}
