package dev.norn.bobc;

import dev.norn.bobc.model.Node;
import dev.norn.sas.Container;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.inspect.Audit;
import java.nio.file.Path;
import java.util.List;

/** A store's main container. The program keeps the handles, as it has no other way to an object that it made. */
final class SasLoadTarget implements LoadTarget {
    private static final int READ_AT_ONCE = 10_000;

    private final Store store;
    private final Container container;
    private final Node[] nodes;

    SasLoadTarget(Path directory, int objects) {
        Path path = directory.resolve("store");
        Store.create(path, Store.Options.defaults()).close();
        store = Store.open(path);
        container = store.container(Store.MAIN);
        nodes = new Node[objects];
    }

    @Override
    public void begin() {
        Transaction.begin();
    }

    @Override
    public void add(int number, int first, int second, int third) {
        nodes[number] = Factory.newInstanceIn(Node.class, container, number, node(first), node(second), node(third));
    }

    private Node node(int number) {
        return number == NONE ? null : nodes[number];
    }

    @Override
    public void commit() {
        Transaction.commit();
    }

    @Override
    public Sums sums() {
        List<String> findings = new Audit(store.attached()).run();
        if (!findings.isEmpty()) {
            throw new IllegalStateException("the store is damaged: " + findings);
        }
        Sums sums = Sums.NOTHING;
        for (int first = 0; first < nodes.length; first += READ_AT_ONCE) {
            int from = first;
            Sums before = sums;
            sums = Transaction.call(() -> add(before, from, Math.min(nodes.length, from + READ_AT_ONCE)));
        }
        return sums;
    }

    private Sums add(Sums sums, int from, int end) {
        for (int i = from; i < end; i++) {
            sums = sums.plus(nodes[i].number(), nodes[i].targets());
        }
        return sums;
    }

    @Override
    public void close() {
        store.close();
    }
}
