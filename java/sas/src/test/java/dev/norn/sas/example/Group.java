package dev.norn.sas.example;

import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.store.memory.Copies;
import dev.norn.sas.store.replica.RecordBatch;
import dev.norn.sas.store.replica.ReplicaStore;
import dev.norn.sas.store.replica.ReplicaStore.Sender;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Members of a group that gets its batches from a list: a majority has what is in it. */
final class Group {
    final List<byte[]> batches = new ArrayList<>();
    private final Path directory;

    /** The first member has a pile, as a root. */
    Group(Path directory) throws IOException {
        this.directory = directory;
        Path first = member(0);
        try (Store store = Store.create(first, Stores.SMALL)) {
            store.setRoot("pile", Factory.newInstanceIn(Pile.class, store.container(Store.MAIN)));
        }
        ReplicaStore.prepare(first);
    }

    Path member(int number) {
        return directory.resolve("member" + number);
    }

    /** A copy of the first member, which is closed. */
    Path copy(int number) throws IOException {
        Path copy = Files.createDirectory(member(number));
        try (var files = Files.list(member(0))) {
            for (Path file : files.filter(file -> !file.endsWith("pool")).toList()) {
                Copies.replace(file, copy.resolve(file.getFileName()));
            }
        }
        return copy;
    }

    /** Makes it the leader of the next epoch. */
    void lead(ReplicaStore replica, long epoch) {
        batches.add(ReplicaStore.beginning(epoch).encode());
        replica.take(RecordBatch.decode(batches.getLast()), Sender.SELF);
    }

    /** Hands all records of a leader on; returns false if it has none. */
    boolean ship(ReplicaStore leader, long waitNanos) throws IOException {
        RecordBatch batch = leader.next(1 << 16, waitNanos);
        if (batch == null) {
            return false;
        }
        byte[] encoded = batch.encode();
        batches.add(encoded);
        leader.take(RecordBatch.decode(encoded), Sender.SELF);
        return true;
    }

    static Pile pile(Store store) {
        return dev.norn.sas.Transaction.read(() -> store.root("pile", Pile.class));
    }
}
