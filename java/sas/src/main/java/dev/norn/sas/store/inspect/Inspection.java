package dev.norn.sas.store.inspect;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.runtime.Values;
import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.heap.RangeTable;
import dev.norn.sas.store.log.Unapplied;
import dev.norn.sas.store.memory.Format;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.DestroyRecords;
import dev.norn.sas.store.transaction.DestroyRule;
import dev.norn.sas.store.transaction.Directory;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What the command shows of a store, by its own descriptions of classes: none of the program's classes is loaded. */
public final class Inspection {
    /** Elements of an array that are shown. */
    private static final int ELEMENTS_MAX = 100;

    private Inspection() {}

    /** Containers, roots and classes, those of transactions that have not ended among them: nothing is waited for. */
    public static List<String> list(AttachedStore store) {
        List<String> lines = new ArrayList<>();
        for (DirectoryEntry entry : Directory.containers(store)) {
            Range range = Directory.range(store, entry);
            lines.add("container %-20s %,15d of %,d bytes%s%s".formatted(range.name, range.bytesUsed(),
                    range.bytesMax(), rule(entry),
                    range.isMissing() ? ", MISSING: its file is not there or cannot be used"
                            : Memory.getLong(range.base + CONTAINER_DAMAGED_PAGE) == 0 ? "" : ", DAMAGED"));
        }
        for (DirectoryEntry entry : Directory.readUnlocked(store, DirectoryEntry.Kind.ROOT)) {
            lines.add("root      %-20s %x, %s"
                    .formatted(entry.name(), offsetOf(entry.first()), Directory.className(store, entry.first())));
        }
        for (DirectoryEntry entry : Directory.classes(store)) {
            lines.add("class     %-20d %s".formatted(entry.first(), entry.name()));
        }
        return lines;
    }

    private static String rule(DirectoryEntry entry) {
        DestroyRule rule = DestroyRecords.ruleOf(entry.reference());
        return rule == DestroyRule.ALLOWED ? "" : ", destroys are " + rule.name().toLowerCase(java.util.Locale.ROOT);
    }

    /**
     * The fields or elements of the object with this root name or hexadecimal address, as they are in the store now:
     * nothing is waited for, and the last line says whether a transaction is changing them.
     */
    public static List<String> show(AttachedStore store, String object) {
        long reference = Directory.readUnlocked(store, DirectoryEntry.Kind.ROOT).stream()
                .filter(entry -> entry.name().equals(object)).findFirst()
                .map(DirectoryEntry::first).orElseGet(() -> parse(store, object));
        UnlockedView view = new UnlockedView(store, Integer.MAX_VALUE);
        if (!view.isThere(reference)) {
            throw RangeTable.destroyed(reference);
        }
        List<String> lines = new ArrayList<>();
        lines.add("%x, generation %d, %s, in container %s".formatted(offsetOf(reference),
                generationOfReference(reference), Directory.className(store, reference), view.container(reference)));
        UnlockedView.Sight sight = view.quietly(reference, () -> String.join("\n", parts(store, view, reference)));
        sight.text().lines().forEach(lines::add);
        if (!sight.isQuiet()) {
            lines.add("  a transaction is changing it");
        }
        return lines;
    }

    private static List<String> parts(AttachedStore store, UnlockedView view, long reference) {
        long at = offsetOf(reference);
        int number = classOf(Memory.getLong(at));
        List<String> lines = new ArrayList<>();
        if (number >= CLASS_USER) {
            Directory.classEntry(store, number).text().lines()
                    .filter(line -> line.matches("\\d+ \\S+ \\S+")).sorted().map(line -> line.split(" "))
                    .forEach(field -> lines.add("  " + field[2] + " = "
                            + view.field(at + Long.parseLong(field[0]), field[1].charAt(0))));
        } else if (isArray(number)) {
            int length = Memory.getInt(at + ARRAY_LENGTH);
            for (int i = 0; i < Math.min(length, ELEMENTS_MAX); i++) {
                lines.add("  [" + i + "] = " + view.element(at, i));
            }
            if (length > ELEMENTS_MAX) {
                lines.add("  and " + (length - ELEMENTS_MAX) + " more elements");
            }
        }
        return lines;
    }

    private static long parse(AttachedStore store, String text) {
        try {
            long offset = Long.parseLong(text, 16);
            if (offset >= CONTAINERS && offset < store.pages().settings.addressBytes()
                    && store.ranges().of(offset).startsAt(offset)) {
                return Format.reference(offset, generationOf(Memory.getLong(offset)));
            }
            throw new SASException("no object is at " + text);
        } catch (NumberFormatException e) {
            throw new SASException("there is no root " + text + ", and it is not an address", e);
        }
    }

    /** The name of the class of a value; of a constant, which only its class knows, what the store has of it. */
    public static String valueClass(long word) {
        byte[] bytes = (word & TAG_MASK) == TAG_VALUE ? StoreTransaction.value(word) : inlineBytes(word);
        String text = new String(bytes, 1, bytes.length - 1, java.nio.charset.StandardCharsets.UTF_8);
        return switch (bytes[0]) {
            case 'e' -> text.substring(0, text.indexOf('#'));
            case 'c' -> Class.class.getName();
            case 's' -> "constant " + text;
            case '7' -> java.time.ZoneId.class.getName();
            default -> Values.decode(bytes).getClass().getName();
        };
    }

    /** The name of the component class of an array of references. */
    public static String arrayComponent(long array) {
        return (String) Values.decode(StoreTransaction.value(Memory.getLong(array + ARRAY_HEADER_BYTES)));
    }

    static byte[] inlineBytes(long word) {
        byte[] bytes = new byte[(int) word >>> 4 & 7];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (word >>> 8 * (i + 1));
        }
        return bytes;
    }

    /** Constants and classes are shown by name, as their classes may not be there. */
    static String value(byte[] bytes) {
        if (bytes[0] == 'e' || bytes[0] == 'c' || bytes[0] == 's') {
            return new String(bytes, 1, bytes.length - 1, java.nio.charset.StandardCharsets.UTF_8);
        }
        Object value = Values.decode(bytes);
        return value instanceof String ? "\"" + value + "\"" : value.toString();
    }

    /** Counts since the pool was made. */
    public static List<String> stat(AttachedStore store) {
        long retired = Directory.containers(store).stream()
                .mapToLong(entry -> Directory.range(store, entry).pagesRetired()).sum();
        return List.of("attached processes   " + (store.livingProcesses() - 1),
                "commits              " + Memory.getLong(COMMIT_COUNT),
                "syncs of the log     " + Memory.getLong(SYNC_COUNT),
                "bytes logged         " + Memory.getLong(LOGGED_BYTES),
                "checkpoints          " + Memory.getLong(CHECKPOINT_COUNT),
                "log in use           " + store.logBytesUsed() + " of " + store.pages().settings.logBytes(),
                "retired pages        " + retired,
                "waiting for a file   " + Unapplied.bytes(store.directory()) + " bytes of changes",
                "takes changes        " + (Memory.getLong(POOL_WRITE_FAILED) == 0 ? "yes" : "no"));
    }

    /**
     * Runs the checker, while no other process can attach.
     *
     * @return what is wrong, references to objects that are gone among it; null if other processes are attached
     *     already: what they are about to change would be taken for damage
     */
    public static List<String> check(AttachedStore store, Consumer<String> out) {
        List<List<String>> result = new ArrayList<>();
        store.pages().attachments().alone(() -> {
            store.recovery().reapAlone();
            result.add(store.livingProcesses() > 1 ? null : checkAlone(store, out));
        });
        return result.getFirst();
    }

    private static List<String> checkAlone(AttachedStore store, Consumer<String> out) {
        Audit audit = new Audit(store);
        List<String> findings = new ArrayList<>(audit.run());
        out.accept(audit.objects() + " objects, " + audit.values() + " values, " + audit.danglingCount()
                + " dangling references, " + findings.size() + " findings");
        findings.addAll(audit.dangling());
        if (audit.danglingCount() > audit.dangling().size()) {
            findings.add("and " + (audit.danglingCount() - audit.dangling().size()) + " more references to "
                    + "destroyed objects");
        }
        return findings;
    }
}
