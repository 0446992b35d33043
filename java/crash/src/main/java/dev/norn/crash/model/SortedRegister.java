package dev.norn.crash.model;

import dev.norn.sas.util.SasSortedMap;

/** In a {@link SasSortedMap} with texts as keys, whose order is that of the appends. */
final class SortedRegister extends Register {
    private final SasSortedMap<String, Long> ids = new SasSortedMap<>();

    @Override
    void put(int index, long id) {
        ids.put("place %09d".formatted(index), id);
    }

    @Override
    long[] all() {
        return ids.values().stream().mapToLong(Long::longValue).toArray();
    }
}
