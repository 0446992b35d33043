package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.heap.DirectoryFormat.DIRECTORY;
import static dev.norn.sas.store.heap.DirectoryFormat.ENTRY_DESTROYS;
import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.ContainerFull;
import dev.norn.sas.exception.ObjectAccessDenied;
import dev.norn.sas.exception.ObjectDestroyed;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.heap.DirectoryEntry.Kind;
import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Attachments;
import dev.norn.sas.store.memory.Memory;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Records of destroyed objects, by which destroys are audited, and the rules of containers for them (section 2, note
 * 1). A record is an object of the container {@link #CONTAINER}, made by the transaction that destroys: so one is never
 * there without the other, whatever is undone, killed or replayed. Records are not linked, so destroying transactions
 * do not wait for each other.
 *
 * <pre>
 * record:  header (16) | time in ms (64) | reference (64) | length of the text (32) | text in UTF-8
 * text:    class, container, user, process, thread, note: a line each
 * </pre>
 */
public final class DestroyRecords {
    /** The container that has the records. Its limit bounds them. */
    public static final String CONTAINER = "destroys";
    /** How large it is made where the program has not made it. */
    private static final long PAGES = (64 << 20) / PAGE_BYTES;
    /** The longest note, in characters. */
    public static final int NOTE_MAX = 300;
    private static final int PART_MAX = 200;
    private static final int TIME = 16;
    private static final int REFERENCE = 24;
    private static final int TEXT_LENGTH = 32;
    private static final int TEXT = 36;

    private DestroyRecords() {}

    /** The rule of a container; no transaction changes it until the end of this one. */
    public static DestroyRule rule(StoreTransaction transaction, Range range) {
        long entry = entry(transaction, range);
        transaction.lockShared(entry);
        return ruleOf(entry);
    }

    /** The rule as it is now, without a lock. */
    public static DestroyRule ruleOf(long entry) {
        return DestroyRule.values()[Memory.getInt(offsetOf(entry) + ENTRY_DESTROYS)];
    }

    /** The container's entry in the directory. One that this JVM has met may have been undone, and made again. */
    private static long entry(StoreTransaction transaction, Range range) {
        long known = range.entry();
        if (known == 0 || !transaction.store().isObject(known)) {
            known = Directory.findLasting(transaction, Kind.CONTAINER, range.name).reference();
            range.entry(known);
        }
        return known;
    }

    /**
     * Makes the container's rule stricter; nothing makes it less strict again. Programs that do not know of rules
     * refuse the store from then on.
     */
    public static void restrict(StoreTransaction transaction, Range range, DestroyRule rule) {
        transaction.lockExclusive(DIRECTORY);
        long entry = entry(transaction, range);
        transaction.lockExclusive(entry);
        if (ruleOf(entry).compareTo(rule) >= 0) {
            return;
        }
        if (rule == DestroyRule.RECORDED && Directory.find(transaction, Kind.CONTAINER, CONTAINER) == null) {
            Directory.createContainer(transaction, CONTAINER, PAGES);
        }
        transaction.store().requireDestroyRules();
        Memory.putInt(offsetOf(entry) + ENTRY_DESTROYS, rule.ordinal());
    }

    /**
     * Comes before an object is destroyed, which the transaction has locked exclusively.
     *
     * @throws ObjectAccessDenied if its container forbids that
     * @throws ContainerFull if there is no room for the record
     */
    public static void precede(StoreTransaction transaction, long reference, String note) {
        if (note.length() > NOTE_MAX) {
            throw new SASException("the note of a destroyed object has at most " + NOTE_MAX + " characters; this one "
                    + "has " + note.length());
        }
        Range range = transaction.store().containerOf(reference);
        switch (rule(transaction, range)) {
            case ALLOWED -> { }
            case RECORDED -> add(transaction, reference, range, note);
            case FORBIDDEN -> throw new ObjectAccessDenied("container " + range.name + " forbids to destroy its "
                    + "objects, and the one at " + Long.toHexString(offsetOf(reference)) + " is in it: mark the object "
                    + "as inactive instead");
        }
    }

    private static void add(StoreTransaction transaction, long reference, Range range, String note) {
        AttachedStore store = transaction.store();
        byte[] text = String.join("\n", part(Directory.className(store, reference)), part(range.name),
                part(System.getProperty("user.name")), part(Attachments.thisProcess()),
                part(Thread.currentThread().getName()), line(note)).getBytes(StandardCharsets.UTF_8);
        long at = offsetOf(allocate(transaction, TEXT + text.length));
        Memory.putLong(at + TIME, System.currentTimeMillis());
        Memory.putLong(at + REFERENCE, reference);
        Memory.putInt(at + TEXT_LENGTH, text.length);
        Memory.copyIn(text, 0, at + TEXT, text.length);
    }

    private static String part(String text) {
        return line(text.substring(0, Math.min(text.length(), PART_MAX)));
    }

    private static String line(String text) {
        return text.replaceAll("\\R|\t", " ");
    }

    private static long allocate(StoreTransaction transaction, int bytes) {
        try {
            return transaction.allocate(container(transaction), CLASS_DESTROYED, bytes, 0);
        } catch (ContainerFull e) {
            throw new ContainerFull("nothing is destroyed, as there is no room for the record of it: " + e.getMessage()
                    + "; `sas destroys STORE --move-to FILE` empties it", e);
        }
    }

    private static Range container(StoreTransaction transaction) {
        DirectoryEntry entry = Directory.findLasting(transaction, Kind.CONTAINER, CONTAINER);
        return entry == null ? null : Directory.range(transaction.store(), entry);
    }

    /** All records, the oldest first; waits for transactions that destroy, and keeps others from moving them. */
    public static List<DestroyRecord> list(StoreTransaction transaction) {
        List<DestroyRecord> records = new ArrayList<>();
        for (long reference : references(transaction)) {
            try {
                transaction.lockShared(reference);
                records.add(read(reference));
            } catch (ObjectDestroyed e) {
                // Its transaction was undone, or it was moved.
            }
        }
        records.sort(Comparator.comparing(DestroyRecord::time));
        return records;
    }

    /** The records that there are, those of transactions that have not ended among them; costs a pass over all. */
    public static List<Long> references(StoreTransaction transaction) {
        List<Long> found = new ArrayList<>();
        Range range = container(transaction);
        for (long page = 0; range != null && page < range.pagesUsed(); page++) {
            for (int granule = 0; granule < GRANULES; granule++) {
                long offset = range.pageOffset(page) + (long) granule * GRANULE_BYTES;
                long header = range.startsAt(offset) ? Memory.getLong(offset) : 0;
                if (classOf(header) == CLASS_DESTROYED && !isDestroyed(header)) {
                    found.add(reference(offset, generationOf(header)));
                }
            }
        }
        return found;
    }

    /**
     * Locks the records exclusively that are still there; returns them, to be written elsewhere and destroyed.
     *
     * @throws ObjectAccessDenied if their container forbids that
     */
    public static List<Long> take(StoreTransaction transaction, List<Long> references) {
        if (!references.isEmpty() && rule(transaction, container(transaction)) == DestroyRule.FORBIDDEN) {
            throw new ObjectAccessDenied("container " + CONTAINER + " forbids to destroy its objects, so the records "
                    + "stay where they are: `sas destroys STORE` prints them");
        }
        List<Long> taken = new ArrayList<>();
        for (long reference : references) {
            try {
                transaction.lockExclusive(reference);
                taken.add(reference);
            } catch (ObjectDestroyed e) {
                // Somebody else has moved it.
            }
        }
        return taken;
    }

    /** A record that the transaction has locked. */
    public static DestroyRecord read(long record) {
        long at = offsetOf(record);
        long reference = Memory.getLong(at + REFERENCE);
        String[] parts = new String(Memory.bytes(at + TEXT, Memory.getInt(at + TEXT_LENGTH)), StandardCharsets.UTF_8)
                .split("\n", -1);
        return new DestroyRecord(Instant.ofEpochMilli(Memory.getLong(at + TIME)), offsetOf(reference),
                generationOfReference(reference), parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
    }
}
