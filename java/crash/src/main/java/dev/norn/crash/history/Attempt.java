package dev.norn.crash.history;

import java.util.List;

/**
 * A transaction, as its side file has it.
 *
 * @param appends the registers that it appends to
 * @param ended when it was over; {@link #UNKNOWN} if its side file does not say so
 * @param uses what it saw, if it was committed
 */
record Attempt(long id, long begun, int[] appends, Fate fate, long ended, List<Use> uses) {
    static final long UNKNOWN = Long.MAX_VALUE;

    enum Fate { COMMITTED, UNDONE, UNKNOWN }

    enum Kind { READ, APPEND, READ_OF_LAST }

    /** What a transaction saw of a register before it changed it: how many numbers, and the last one. */
    record Use(int register, int length, long last, Kind kind) {
        static Use decode(String text) {
            String[] parts = text.split(":");
            Kind kind = switch (parts[3]) {
                case "a" -> Kind.APPEND;
                case "r" -> Kind.READ;
                default -> Kind.READ_OF_LAST;
            };
            return new Use(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Long.parseLong(parts[2]), kind);
        }
    }

    Attempt committed(long at, List<Use> saw) {
        return new Attempt(id, begun, appends, Fate.COMMITTED, at, saw);
    }

    Attempt undone(long at) {
        return new Attempt(id, begun, appends, Fate.UNDONE, at, List.of());
    }
}
