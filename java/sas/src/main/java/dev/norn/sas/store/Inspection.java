package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import dev.norn.sas.SASException;
import dev.norn.sas.Store;
import dev.norn.sas.runtime.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** What the command shows of a store, by its own descriptions of classes: none of the program's classes is loaded. */
public final class Inspection {
    /** Elements of an array that are shown. */
    private static final int ELEMENTS_MAX = 100;

    private Inspection() {}

    /** Containers, roots and classes, those of transactions that have not ended among them: nothing is waited for. */
    public static List<String> list(Store store) {
        Pool pool = store.pool();
        List<String> lines = new ArrayList<>();
        for (Directory.Entry entry : Directory.containers(pool)) {
            Range range = Directory.range(pool, entry);
            lines.add("container %-20s %,15d of %,d bytes%s".formatted(range.name, range.bytesUsed(), range.bytesMax(),
                    range.isMissing() ? ", MISSING: its file is not there or cannot be used" : Memory.getLong(range.base + CONTAINER_DAMAGED_PAGE) == 0 ? "" : ", DAMAGED"));
        }
        for (Directory.Entry entry : Directory.glance(pool, Directory.Kind.ROOT)) {
            lines.add("root      %-20s %x, %s".formatted(entry.name(), offsetOf(entry.first()), className(pool, entry.first())));
        }
        for (Directory.Entry entry : Directory.classes(pool)) {
            lines.add("class     %-20d %s".formatted(entry.first(), entry.name()));
        }
        return lines;
    }

    private static Directory.Entry classEntry(Pool pool, int number) {
        return Directory.classes(pool).stream().filter(entry -> entry.first() == number).findFirst().orElse(null);
    }

    static String className(Pool pool, long reference) {
        if (!pool.isObject(reference)) {
            return "destroyed";
        }
        int number = classOf(Memory.getLong(offsetOf(reference)));
        if (number == CLASS_ARRAY) {
            return "array of references, " + Memory.getInt(offsetOf(reference) + ARRAY_LENGTH);
        }
        if (isArray(number)) {
            return "array of " + arrayName(number) + ", " + Memory.getInt(offsetOf(reference) + ARRAY_LENGTH);
        }
        Directory.Entry entry = classEntry(pool, number);
        return entry == null ? "class " + number : entry.name();
    }

    /** What an array of this class has. */
    static String arrayName(int number) {
        return number == CLASS_ARRAY ? "references" : String.valueOf(PRIMITIVES.charAt(number - CLASS_ARRAY - 1));
    }

    /**
     * The fields or elements of the object with this root name or hexadecimal address, as they are in the store now:
     * nothing is waited for, and the last line says whether a transaction is changing them.
     */
    public static List<String> show(Store store, String object) {
        Pool pool = store.pool();
        long reference = Directory.glance(pool, Directory.Kind.ROOT).stream().filter(entry -> entry.name().equals(object)).findFirst()
                .map(Directory.Entry::first).orElseGet(() -> parse(pool, object));
        Glance glance = new Glance(pool, Integer.MAX_VALUE);
        if (!glance.isThere(reference)) {
            throw Pool.destroyed(reference);
        }
        List<String> lines = new ArrayList<>();
        lines.add("%x, generation %d, %s, in container %s".formatted(offsetOf(reference), generationOfReference(reference), className(pool, reference), glance.container(reference)));
        Glance.Sight sight = glance.quietly(reference, () -> String.join("\n", parts(pool, glance, reference)));
        sight.text().lines().forEach(lines::add);
        if (!sight.isQuiet()) {
            lines.add("  a transaction is changing it");
        }
        return lines;
    }

    private static List<String> parts(Pool pool, Glance glance, long reference) {
        long at = offsetOf(reference);
        int number = classOf(Memory.getLong(at));
        List<String> lines = new ArrayList<>();
        if (number >= CLASS_USER) {
            classEntry(pool, number).text().lines().filter(line -> line.matches("\\d+ \\S+ \\S+")).sorted().map(line -> line.split(" "))
                    .forEach(field -> lines.add("  " + field[2] + " = " + glance.field(at + Long.parseLong(field[0]), field[1].charAt(0))));
        } else if (isArray(number)) {
            int length = Memory.getInt(at + ARRAY_LENGTH);
            for (int i = 0; i < Math.min(length, ELEMENTS_MAX); i++) {
                lines.add("  [" + i + "] = " + glance.element(at, i));
            }
            if (length > ELEMENTS_MAX) {
                lines.add("  and " + (length - ELEMENTS_MAX) + " more elements");
            }
        }
        return lines;
    }

    private static long parse(Pool pool, String text) {
        try {
            long offset = Long.parseLong(text, 16);
            if (offset >= CONTAINERS && offset < pool.settings.addressBytes() && pool.ranges().of(offset).startsAt(offset)) {
                return Format.reference(offset, generationOf(Memory.getLong(offset)));
            }
            throw new SASException("no object is at " + text);
        } catch (NumberFormatException e) {
            throw new SASException("there is no root " + text + ", and it is not an address", e);
        }
    }

    /** The name of the class of a value; of a constant, which only its class knows, what the store has of it. */
    static String valueClass(long word) {
        byte[] bytes = (word & TAG_MASK) == TAG_VALUE ? Work.value(word) : inlineBytes(word);
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
    static String arrayComponent(long array) {
        return (String) Values.decode(Work.value(Memory.getLong(array + ARRAY_HEADER_BYTES)));
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
    public static List<String> stat(Store store) {
        Pool pool = store.pool();
        long retired = Directory.containers(pool).stream().mapToLong(entry -> Directory.range(pool, entry).pagesRetired()).sum();
        return List.of("attached processes   " + (pool.livingProcesses() - 1), "commits              " + Memory.getLong(COMMIT_COUNT),
                "syncs of the log     " + Memory.getLong(SYNC_COUNT), "bytes logged         " + Memory.getLong(LOGGED_BYTES),
                "checkpoints          " + Memory.getLong(CHECKPOINT_COUNT), "log in use           " + pool.logBytesUsed() + " of " + pool.settings.logBytes(),
                "retired pages        " + retired, "waiting for a file   " + Unapplied.bytes(pool.directory) + " bytes of changes",
                "takes no changes     " + (Memory.getLong(POOL_WRITE_FAILED) != 0));
    }

    /**
     * Runs the checker, while no other process can attach.
     *
     * @return what is wrong, references to objects that are gone among it; null if other processes are attached
     *     already: what they are about to change would be taken for damage
     */
    public static List<String> check(Store store, Consumer<String> out) {
        Pool pool = store.pool();
        List<List<String>> result = new ArrayList<>();
        pool.attachments().alone(() -> {
            pool.recovery().reapAlone();
            result.add(pool.livingProcesses() > 1 ? null : checkAlone(pool, out));
        });
        return result.getFirst();
    }

    private static List<String> checkAlone(Pool pool, Consumer<String> out) {
        Audit audit = new Audit(pool);
        List<String> findings = new ArrayList<>(audit.run());
        out.accept(audit.objects() + " objects, " + audit.values() + " values, " + audit.danglingCount() + " dangling references, " + findings.size() + " findings");
        findings.addAll(audit.dangling());
        if (audit.danglingCount() > audit.dangling().size()) {
            findings.add("and " + (audit.danglingCount() - audit.dangling().size()) + " more references to "
                    + "destroyed objects");
        }
        return findings;
    }
}
