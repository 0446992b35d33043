package dev.norn.sas.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Who holds something in shared memory: a process by its number and its start time, in one word, so that a number that the system gave to another
 * process later is not taken for it.
 */
final class Owner {
    private static final int NUMBER_BITS = 22;
    static final long SELF = of(ProcessHandle.current().pid());

    private Owner() {}

    /** The owner word of a process that lives; 0 if none has this number. */
    private static long of(long number) {
        try {
            String line = Files.readString(Path.of("/proc", Long.toString(number), "stat"));
            // Behind the name in parentheses: the state is field 3, the start time field 22.
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
            if (fields[0].equals("Z") || fields[0].equals("X")) {
                return 0;
            }
            return number | Long.parseLong(fields[19]) << NUMBER_BITS;
        } catch (IOException e) {
            return 0;
        }
    }

    static long number(long owner) {
        return owner & (1L << NUMBER_BITS) - 1;
    }

    /** Whether the process is still there; costs a read of {@code /proc}. */
    static boolean isAlive(long owner) {
        return owner == SELF || owner == of(number(owner));
    }

    /** The boot of the machine, as two words. */
    static long[] boot() {
        try {
            var id = java.util.UUID.fromString(Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim());
            return new long[] {id.getMostSignificantBits(), id.getLeastSignificantBits()};
        } catch (IOException e) {
            throw new dev.norn.sas.StorageReadFailure("cannot read the boot's identity, which says whether a pool may be trusted", e);
        }
    }
}
