package dev.norn.bobc;

/**
 * One line of the measurement.
 *
 * @param objects how many accounts there are
 * @param processes JVMs that share them
 * @param clients of each process
 */
record HotRow(HotKind kind, int objects, int processes, int clients, HotDrive.Threads threads) {
    private static final String MARK = ",";

    /** Clients of one process, on the system's threads. */
    static HotRow of(HotKind kind, int objects, int clients) {
        return new HotRow(kind, objects, 1, clients, HotDrive.Threads.PLATFORM);
    }

    String title() {
        String each = "%,d %s".formatted(clients, noun()) + (clients == 1 ? "" : "s");
        return kind == HotKind.PROBE ? kind.title
                : kind.title + ", " + (processes == 1 ? each : processes + " JVMs of " + each);
    }

    private String noun() {
        return threads == HotDrive.Threads.VIRTUAL ? "virtual thread" : kind == HotKind.SAS ? "thread" : "client";
    }

    /** As a word of a command line. */
    String encode() {
        return String.join(MARK, kind.name(), "" + objects, "" + processes, "" + clients, threads.name());
    }

    static HotRow decode(String word) {
        String[] parts = word.split(MARK);
        return new HotRow(HotKind.valueOf(parts[0]), Integer.parseInt(parts[1]), Integer.parseInt(parts[2]),
                Integer.parseInt(parts[3]), HotDrive.Threads.valueOf(parts[4]));
    }
}
