package dev.norn.bobc;

import dev.norn.bobc.model.Accounts;
import dev.norn.sas.Factory;
import dev.norn.sas.Store;
import dev.norn.sas.SubObjects;
import dev.norn.sas.Transaction;
import dev.norn.sas.store.inspect.Audit;
import java.nio.file.Path;
import java.util.List;

/** Persistent accounts. Other JVMs may raise them at the same time. */
final class HotSas implements HotPeer {
    private static final String ROOT = "accounts";

    private final Store store;
    private final Accounts.Account[] accounts;

    static void create(Path directory, int objects) {
        Store.create(at(directory), Store.Options.defaults()).close();
        try (Store store = Store.open(at(directory), SubObjects.ADOPT)) {
            Transaction.run(() -> store.setRoot(ROOT,
                    Factory.newInstanceIn(Accounts.class, store.container(Store.MAIN), objects)));
        }
    }

    private static Path at(Path directory) {
        return directory.resolve("store");
    }

    HotSas(Path directory) {
        store = Store.open(at(directory), SubObjects.ADOPT);
        accounts = Transaction.call(() -> store.root(ROOT, Accounts.class).all());
    }

    @Override
    public Client client() {
        return new SasClient(accounts);
    }

    private static final class SasClient implements Client {
        private final Accounts.Account[] accounts;
        private int tries;

        SasClient(Accounts.Account[] accounts) {
            this.accounts = accounts;
        }

        @Override
        public int increment(int account) {
            Accounts.Account its = accounts[account];
            tries = 0;
            Transaction.run(() -> {
                tries++;
                its.increment();
            });
            return tries;
        }
    }

    @Override
    public long sum() {
        return Transaction.call(() -> {
            long sum = 0;
            for (Accounts.Account account : accounts) {
                sum += account.balance();
            }
            return sum;
        });
    }

    @Override
    public long syncs() {
        return store.attached().counts().syncs();
    }

    @Override
    public List<String> findings() {
        return new Audit(store.attached()).run();
    }

    @Override
    public void close() {
        store.close();
    }
}
