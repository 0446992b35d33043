package dev.norn.crash.model;

import dev.norn.sas.Factory;
import dev.norn.sas.util.SasLongArray;

/** In a {@link SasLongArray}, which is replaced by a larger one when it is full; the old one is destroyed. */
final class ArrayRegister extends Register {
    private static final int FIRST = 16;
    private SasLongArray ids;
    private int count;

    @Override
    void put(int index, long id) {
        if (ids == null || index == ids.length()) {
            SasLongArray larger = Factory.newInstanceNear(SasLongArray.class, this, Math.max(FIRST, 2 * index));
            if (ids != null) {
                larger.copyFrom(0, ids.toArray(), 0, index);
                Factory.destroyInstance(ids);
            }
            ids = larger;
        }
        ids.set(index, id);
        count = index + 1;
    }

    @Override
    long[] all() {
        return ids == null ? new long[0] : java.util.Arrays.copyOf(ids.toArray(), count);
    }
}
