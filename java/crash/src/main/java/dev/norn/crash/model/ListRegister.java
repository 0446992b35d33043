package dev.norn.crash.model;

import dev.norn.sas.util.SasList;

/** In a {@link SasList}. */
final class ListRegister extends Register {
    private final SasList<Long> ids = new SasList<>();

    @Override
    void put(int index, long id) {
        ids.add(index, id);
    }

    @Override
    long[] all() {
        return ids.stream().mapToLong(Long::longValue).toArray();
    }
}
