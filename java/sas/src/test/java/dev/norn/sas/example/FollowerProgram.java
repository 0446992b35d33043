package dev.norn.sas.example;

import dev.norn.sas.Store;
import dev.norn.sas.store.replica.RecordBatch;
import dev.norn.sas.store.replica.ReplicaStore;
import dev.norn.sas.store.replica.ReplicaStore.Sender;
import java.nio.file.Files;
import java.nio.file.Path;

/** {@code MEMBER BATCHES} takes all batches of a directory, and says so after each: to be killed. */
final class FollowerProgram {
    private FollowerProgram() {}

    public static void main(String[] arguments) throws Exception {
        Store store = Store.openReplica(Path.of(arguments[0]));
        ReplicaStore replica = ReplicaStore.of(store.attached());
        try (var files = Files.list(Path.of(arguments[1]))) {
            for (Path file : files.sorted().toList()) {
                replica.take(RecordBatch.decode(Files.readAllBytes(file)), Sender.OTHER);
                System.out.println(replica.number());
                if (replica.number() % 40 == 7) {
                    replica.checkpoint();
                }
            }
        }
        Thread.sleep(600_000);
    }
}
