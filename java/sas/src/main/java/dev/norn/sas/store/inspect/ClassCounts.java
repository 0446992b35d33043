package dev.norn.sas.store.inspect;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.ContainerException;
import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.Directory;
import java.util.Map;
import java.util.TreeMap;

/** Counts what a container holds, by class. Costs a pass over it; no process changes it meanwhile. */
public final class ClassCounts {
    private ClassCounts() {}

    /** How many there are of a class, and what they take, in bytes, headers and rounding included. */
    public record Share(long count, long bytes) {
        private Share plus(long more) {
            return new Share(count + 1, bytes + more);
        }
    }

    /** Shares by the class's name; values are under {@code values}, arrays under {@code arrays}. */
    public static Map<String, Share> of(AttachedStore store, String container) {
        Range range = Directory.range(store, Directory.containers(store).stream()
                .filter(entry -> entry.name().equals(container)).findFirst()
                .orElseThrow(() -> new ContainerException("there is no container " + container)));
        Map<Integer, String> names = new TreeMap<>();
        for (DirectoryEntry entry : Directory.classes(store)) {
            names.put((int) entry.first(), entry.name());
        }
        Map<String, Share> shares = new TreeMap<>();
        for (long page = 0; page < range.pagesUsed(); page++) {
            for (int granule = 0; granule < GRANULES; granule++) {
                long offset = range.pageOffset(page) + (long) granule * GRANULE_BYTES;
                if (range.startsAt(offset)) {
                    long header = Memory.getLong(offset);
                    int number = classOf(header);
                    String name = number == CLASS_VALUE ? "values" : number == CLASS_DESTROYED ? "records"
                            : isArray(number) ? "arrays"
                            : names.getOrDefault(number, "class " + number);
                    shares.merge(name, new Share(1, (long) granulesOf(header) * GRANULE_BYTES),
                            (a, b) -> a.plus(b.bytes));
                }
            }
        }
        return shares;
    }
}
