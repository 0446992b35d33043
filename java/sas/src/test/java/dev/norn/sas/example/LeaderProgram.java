package dev.norn.sas.example;

import dev.norn.sas.Store;
import dev.norn.sas.store.replica.RecordBatch;
import dev.norn.sas.store.replica.ReplicaStore;
import dev.norn.sas.store.replica.ReplicaStore.Sender;
import java.nio.file.Path;

/** {@code MEMBER} leads a group of which it is the majority: to be killed. */
final class LeaderProgram {
    private LeaderProgram() {}

    public static void main(String[] arguments) throws Exception {
        Store store = Store.openReplica(Path.of(arguments[0]));
        ReplicaStore replica = ReplicaStore.of(store.attached());
        replica.take(ReplicaStore.beginning(1), Sender.SELF);
        System.out.println("leads");
        for (;;) {
            RecordBatch batch = replica.next(1 << 16, 1_000_000_000);
            if (batch != null) {
                replica.take(batch, Sender.SELF);
            }
        }
    }
}
