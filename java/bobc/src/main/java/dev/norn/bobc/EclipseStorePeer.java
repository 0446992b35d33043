package dev.norn.bobc;

import dev.norn.bobc.model.Changes;
import dev.norn.bobc.model.Company;
import dev.norn.bobc.model.Consistency;
import dev.norn.bobc.model.Lists;
import dev.norn.bobc.model.Population;
import dev.norn.bobc.model.Profiles;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.nio.file.Path;
import java.util.List;
import org.eclipse.serializer.persistence.types.Storer;
import org.eclipse.store.storage.embedded.types.EmbeddedStorage;
import org.eclipse.store.storage.embedded.types.EmbeddedStorageManager;

/**
 * The same classes as plain objects, all of them in memory, stored by EclipseStore: under one lock a transaction
 * changes them and then stores what it has changed, in one commit. Nothing can be undone, so an order with an unused
 * item is refused before it begins.
 */
final class EclipseStorePeer implements Peer {
    private final Path directory;
    private Company company;
    private EmbeddedStorageManager storage;
    private Scale scale;

    /** Makes a storage, or opens the one that is there. */
    EclipseStorePeer(Path directory, Scale scale) {
        this.directory = directory.resolve("eclipsestore");
        this.scale = scale;
        Lists.makeParted();
        open();
    }

    private void open() {
        storage = EmbeddedStorage.start(directory);
        if (storage.root() == null) {
            storage.setRoot(new Company());
            storage.storeRoot();
        }
        company = (Company) storage.root();
    }

    @Override
    public void populate(Scale its, int warehouses, long seed) {
        scale = its;
        Company filled = new Company();
        new Population(filled, scale, seed, Runnable::run).run(warehouses);
        storage.setRoot(filled);
        storage.storeRoot();
        company = filled;
    }

    private synchronized boolean run(Request request, StringBuilder screen) {
        if (request instanceof Request.NewOrder order && order.isInvalid()) {
            return false;
        }
        List<Object> changed = Changes.of(company, request);
        Profiles.run(company, request, screen);
        if (!changed.isEmpty()) {
            Storer storer = storage.createStorer();
            storer.storeAll(changed);
            storer.commit();
        }
        return true;
    }

    @Override
    public Client client() {
        return new Client() {
            @Override
            public boolean run(Request request, StringBuilder screen) {
                return EclipseStorePeer.this.run(request, screen);
            }

            @Override
            public long conflicts() {
                return 0;
            }
        };
    }

    /** Of what was stored: the storage is closed and read again. */
    @Override
    public synchronized List<String> inconsistencies() {
        storage.shutdown();
        company = null;
        open();
        return Consistency.check(company, scale, Runnable::run);
    }

    @Override
    public synchronized long orders() {
        return Consistency.orders(company);
    }

    @Override
    public Counts counts() {
        return Counts.UNKNOWN;
    }

    @Override
    public void close() {
        storage.shutdown();
    }
}
