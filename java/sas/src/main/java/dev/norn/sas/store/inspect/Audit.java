package dev.norn.sas.store.inspect;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.Directory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The checker: walks every container of the pool and asserts what has to hold while no transaction runs. Costs a visit
 * to each object; a line for each finding, with container and address.
 *
 * <ul>
 * <li>Objects are within their page, or have pages of their own, and do not overlap; their class is known.
 * <li>No object is locked or marked as destroyed.
 * <li>Every value is referred to by exactly one field, in its container.
 * <li>No container is damaged or without its file. What is in such a one is not looked at.
 * <li>References to objects that are gone are no findings, since they throw; they are counted and named apart.
 * <li>A page's latch is free. No object has a generation that its page has yet to give out, and no page one after the
 * last.
 * </ul>
 */
public final class Audit {
    private final AttachedStore store;
    /** As many references to objects that are gone are named. */
    private static final int NAMED_MAX = 100;

    private final List<String> findings = new ArrayList<>();
    private final List<String> dangling = new ArrayList<>();
    /** Of each class, its description. */
    private final Map<Long, String> classes = new HashMap<>();
    /** Of each class, the offsets of its references. */
    private final Map<Long, int[]> references = new HashMap<>();
    private long objects;
    private long values;
    private long danglingCount;

    public Audit(AttachedStore store) {
        this.store = store;
    }

    public long objects() {
        return objects;
    }

    public long values() {
        return values;
    }

    /** References to objects that are gone: no damage, since they throw. */
    public long danglingCount() {
        return danglingCount;
    }

    /** Where they are: a line for each of the first hundred. */
    public List<String> dangling() {
        return dangling;
    }

    /**
     * What is wrong; empty if nothing is. What dead processes left is finished first: until somebody needs it, it
     * stays.
     */
    public List<String> run() {
        store.recovery().reap();
        for (DirectoryEntry entry : Directory.classes(store)) {
            classes.put(entry.first(), entry.text());
            references.put(entry.first(), entry.text().lines().filter(line -> line.matches("\\d+ ..+ .*"))
                    .filter(line -> line.split(" ")[1].length() > 1)
                    .mapToInt(line -> Integer.parseInt(line.split(" ")[0])).toArray());
        }
        for (DirectoryEntry root : Directory.roots(store)) {
            if (isDangling(root.first())) {
                addDangling("the root " + root.name(), root.first());
            }
        }
        for (DirectoryEntry entry : Directory.containers(store)) {
            Range range = Directory.range(store, entry);
            try {
                range.check();
            } catch (dev.norn.sas.exception.ContainerDamaged e) {
                findings.add(e.getMessage());
                continue;
            }
            Map<Long, Integer> users = new HashMap<>();
            List<Long> found = new ArrayList<>();
            for (long page = 0; page < range.pagesUsed(); page++) {
                walk(range, page, users, found);
            }
            for (long value : found) {
                int count = users.getOrDefault(value, 0);
                if (count != 1) {
                    findings.add(range + ": " + count + " fields refer to the value at " + Long.toHexString(value)
                            + ", not one");
                }
            }
        }
        return findings;
    }

    private void walk(Range range, long page, Map<Long, Integer> users, List<Long> found) {
        long descriptor = range.descriptor(page);
        if (Memory.getLong(descriptor + DESCRIPTOR_LATCH) != 0) {
            findings.add(range + ": page " + page + " is latched by slot "
                    + (Memory.getLong(descriptor + DESCRIPTOR_LATCH) - 1));
        }
        if (Memory.getInt(descriptor + DESCRIPTOR_GENERATION) > RETIRED) {
            findings.add(range + ": page " + page + " has generation " + Memory.getInt(descriptor
                    + DESCRIPTOR_GENERATION) + ", above the last, " + (RETIRED - 1));
        }
        long end = range.pageOffset(page);
        for (int granule = 0; granule < GRANULES; granule++) {
            long offset = range.pageOffset(page) + (long) granule * GRANULE_BYTES;
            if (!range.startsAt(offset)) {
                continue;
            }
            long header = Memory.getLong(offset);
            if (offset < end) {
                findings.add(range + ": the object at " + Long.toHexString(offset) + " begins within another");
            }
            end = offset + (long) granulesOf(header) * GRANULE_BYTES;
            boolean isLarge = granulesOf(header) > GRANULES;
            if (!isLarge && end > range.pageOffset(page + 1) || isLarge && granule != 0) {
                findings.add(range + ": the object at " + Long.toHexString(offset) + " crosses the end of page "
                        + page);
            }
            if (generationOf(header) > Memory.getInt(descriptor + DESCRIPTOR_GENERATION)) {
                findings.add(range + ": the object at " + Long.toHexString(offset) + " has generation "
                        + generationOf(header)
                        + ", which page " + page + " has yet to give out");
            }
            visit(range, offset, header, users, found);
        }
    }

    private void visit(Range range, long offset, long header, Map<Long, Integer> users, List<Long> found) {
        int number = classOf(header);
        if (isDestroyed(header)) {
            findings.add(range + ": the object at " + Long.toHexString(offset) + " is marked as destroyed");
        }
        if (number == CLASS_VALUE) {
            values++;
            found.add(offset);
            return;
        }
        objects++;
        long lock = Memory.getLong(offset + OBJECT_LOCK);
        if ((lock & (LOCK_EXCLUSIVE | LOCK_HOLDERS)) != 0) {
            findings.add(range + ": the object at " + Long.toHexString(offset) + " is locked: "
                    + Long.toHexString(lock));
        }
        if (number == CLASS_ARRAY) {
            int length = Memory.getInt(offset + ARRAY_LENGTH);
            for (int i = 0; i <= length; i++) {
                follow(range, offset, offset + ARRAY_HEADER_BYTES + 8L * i, users);
            }
        } else if (number >= CLASS_USER) {
            int[] offsets = references.get((long) number);
            if (offsets == null) {
                findings.add(range + ": the object at " + Long.toHexString(offset) + " is of class " + number
                        + ", which the store does not know");
                return;
            }
            for (int at : offsets) {
                follow(range, offset, offset + at, users);
            }
        }
    }

    private void follow(Range range, long object, long at, Map<Long, Integer> users) {
        long word = Memory.getLong(at);
        if ((word & TAG_MASK) == TAG_VALUE) {
            users.merge(offsetOf(word), 1, Integer::sum);
            if (!store.isObject(word & ~TAG_MASK)) {
                findings.add("the field at " + Long.toHexString(at) + " refers to a value at "
                        + Long.toHexString(offsetOf(word)) + " that is not there");
            }
        } else if ((word & TAG_MASK) == TAG_OBJECT && isDangling(word)) {
            addDangling(range + ": " + place(object, at) + " of the object at " + Long.toHexString(object), word);
        }
    }

    /** Whether the object is gone. What is in a damaged container may be there. */
    private boolean isDangling(long word) {
        if (word == 0 || store.isObject(word)) {
            return false;
        }
        try {
            store.containerOf(word).check();
            return true;
        } catch (dev.norn.sas.exception.ContainerDamaged e) {
            return false;
        } catch (dev.norn.sas.exception.ObjectDestroyed e) {
            return true;
        }
    }

    private void addDangling(String from, long word) {
        danglingCount++;
        if (dangling.size() < NAMED_MAX) {
            dangling.add(from + " refers to the object at " + Long.toHexString(offsetOf(word)) + " with generation "
                    + generationOfReference(word) + ", which was destroyed");
        }
    }

    /** The field or element at an offset within an object. */
    private String place(long object, long at) {
        int number = classOf(Memory.getLong(object));
        if (number == CLASS_ARRAY) {
            return "element " + ((at - object - ARRAY_HEADER_BYTES) / 8 - 1);
        }
        return classes.get((long) number).lines().filter(line -> line.startsWith(at - object + " "))
                .map(line -> "field " + line.split(" ")[2]).findFirst().orElse("a field");
    }
}
