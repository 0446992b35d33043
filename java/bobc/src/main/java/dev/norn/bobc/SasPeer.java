package dev.norn.bobc;

import dev.norn.bobc.model.Company;
import dev.norn.bobc.model.Consistency;
import dev.norn.bobc.model.Lists;
import dev.norn.bobc.model.Population;
import dev.norn.bobc.model.Profiles;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.TransactionConflict;
import dev.norn.sas.store.inspect.Audit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/** The same classes as persistent objects. Other JVMs may run clients of the same store at the same time. */
final class SasPeer implements Peer {
    private static final String COMPANY = "company";
    private static final int ATTEMPTS_MAX = 10_000;

    private final Store store;
    private Scale scale;

    /** Makes a store, or attaches to the one that is there. */
    SasPeer(Path directory, Scale scale, String pool) {
        Lists.makePersistable();
        this.scale = scale;
        if (!Files.exists(directory)) {
            Store.create(directory, Store.Options.defaults().withPool(pool)).close();
        }
        store = Store.open(directory, SubObjects.ADOPT);
    }

    Store store() {
        return store;
    }

    @Override
    public void populate(Scale its, int warehouses, long seed) {
        scale = its;
        Company company = Factory.newPermInstance(Company.class);
        new Population(company, its, seed, action -> Transaction.run(action::run)).run(warehouses);
        store.setRoot(COMPANY, company);
        store.attached().checkpoint();
    }

    private Company company() {
        return store.root(COMPANY, Company.class);
    }

    @Override
    public Client client() {
        return new SasClient(company());
    }

    private static final class SasClient implements Client {
        private final Company company;
        private long conflicts;

        SasClient(Company company) {
            this.company = company;
        }

        @Override
        public boolean run(Request request, StringBuilder screen) {
            for (int attempt = 1;; attempt++) {
                int shown = screen == null ? 0 : screen.length();
                Transaction.begin();
                try {
                    Profiles.run(company, request, screen);
                    Transaction.commit();
                    return true;
                } catch (Profiles.UnknownItem e) {
                    Transaction.abort();
                    return false;
                } catch (TransactionConflict e) {
                    abort();
                    conflicts++;
                    if (attempt == ATTEMPTS_MAX) {
                        throw e;
                    }
                    if (screen != null) {
                        screen.setLength(shown);
                    }
                    LockSupport.parkNanos(ThreadLocalRandom.current()
                            .nextLong(Math.min(2_000_000, 20_000L << Math.min(attempt, 10))));
                } catch (Throwable e) {
                    abort();
                    throw e;
                }
            }
        }

        private static void abort() {
            if (Transaction.isActive()) {
                Transaction.abort();
            }
        }

        @Override
        public long conflicts() {
            return conflicts;
        }
    }

    @Override
    public List<String> inconsistencies() {
        List<String> findings =
                new ArrayList<>(Consistency.check(company(), scale, action -> Transaction.run(action::run)));
        findings.addAll(new Audit(store.attached()).run());
        return findings;
    }

    @Override
    public long orders() {
        return Transaction.call(() -> Consistency.orders(company()));
    }

    @Override
    public Counts counts() {
        var counts = store.attached().counts();
        return new Counts(counts.syncs(), counts.loggedBytes(), counts.checkpoints());
    }

    @Override
    public void close() {
        store.close();
    }
}
