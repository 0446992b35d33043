package dev.norn.bobc;

import java.nio.file.Path;
import java.util.Map;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/** A map from the number to an array of the three references' numbers. */
final class MvStoreLoadTarget implements LoadTarget {
    private static final int CACHE_MB = 256;

    private final MVStore store;
    private final MVMap<Integer, int[]> nodes;

    MvStoreLoadTarget(Path directory) {
        store = new MVStore.Builder().fileName(directory.resolve("nodes.mv").toString()).cacheSize(CACHE_MB)
                .autoCommitDisabled().open();
        nodes = store.openMap("nodes");
    }

    @Override
    public void begin() {
        // There is one version that is written.
    }

    @Override
    public void add(int number, int first, int second, int third) {
        nodes.append(number, new int[] {first, second, third});
    }

    @Override
    public void commit() {
        store.commit();
        store.sync();
    }

    @Override
    public Sums sums() {
        Sums sums = Sums.NOTHING;
        for (Map.Entry<Integer, int[]> node : nodes.entrySet()) {
            long targets = 0;
            for (int target : node.getValue()) {
                targets += Math.max(target, 0);
            }
            sums = sums.plus(node.getKey(), targets);
        }
        return sums;
    }

    @Override
    public void close() {
        store.close();
    }
}
