package dev.norn.crash.model;

import dev.norn.sas.util.SasMap;

/** In a {@link SasMap} from index to number. */
final class MapRegister extends Register {
    private final SasMap<Integer, Long> ids = new SasMap<>();

    @Override
    void put(int index, long id) {
        Long before = ids.put(index, id);
        if (before != null) {
            throw new IllegalStateException("the map has " + before + " at the new place " + index);
        }
    }

    @Override
    long[] all() {
        long[] all = new long[ids.size()];
        ids.forEach((index, id) -> all[index] = id);
        return all;
    }
}
