package dev.norn.sas.store.inspect;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.transaction.AttachedStore;
import dev.norn.sas.store.transaction.Directory;
import dev.norn.sas.store.transaction.Locks;
import java.util.function.Supplier;

/**
 * A look at what the store has, for {@code Factory.describe}: takes no lock and no latch, enters no monitor and loads
 * no class, because a debugger may have suspended the thread for which it would wait. What it reads may be changed
 * meanwhile, so {@link #quietly} says whether it was.
 */
public final class UnlockedView {
    private static final int ATTEMPTS_MAX = 3;
    private static final int VALUE_BYTES_MAX = 200;

    private final AttachedStore store;
    private final int valueBytesMax;

    public UnlockedView(AttachedStore store) {
        this(store, VALUE_BYTES_MAX);
    }

    /** @param valueBytesMax longer values are cut off */
    UnlockedView(AttachedStore store, int valueBytesMax) {
        this.store = store;
        this.valueBytesMax = valueBytesMax;
    }

    /** What was read, and whether the object was unchanged meanwhile. */
    public record Sight(String text, boolean isQuiet) {}

    /** Reads, a few times if somebody writes meanwhile. */
    public Sight quietly(long reference, Supplier<String> reading) {
        long word = offsetOf(reference) + OBJECT_LOCK;
        String text = "";
        for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
            long before = Memory.getVolatile(word);
            text = reading.get();
            if (Locks.isStill(offsetOf(reference), Locks.countOf(before))) {
                return new Sight(text, true);
            }
        }
        return new Sight(text, false);
    }

    /** The container's name; null if none is there. */
    public String container(long reference) {
        Range range = range(offsetOf(reference));
        return range == null ? null : range.name;
    }

    /** One that this JVM has not met stays so: to make it known takes a monitor. */
    private Range range(long offset) {
        for (Range range : store.ranges().all()) {
            if (range != null && range.contains(offset)) {
                return range;
            }
        }
        return Directory.containers(store).stream()
                .map(entry -> new Range((int) entry.third(), entry.name(), entry.first(), entry.second(), false))
                .filter(range -> range.contains(offset)).findFirst().orElse(null);
    }

    /**
     * Whether the object is there, in a container that can be read.
     *
     * @throws dev.norn.sas.exception.ContainerDamaged if it cannot
     */
    public boolean isThere(long reference) {
        Range range = range(offsetOf(reference));
        if (range == null) {
            return false;
        }
        range.check();
        long header = Memory.getLong(offsetOf(reference));
        return range.startsAt(offsetOf(reference)) && generationOf(header) == generationOfReference(reference)
                && !isDestroyed(header);
    }

    /** An element of the array at this offset. */
    String element(long array, int index) {
        int number = classOf(Memory.getLong(array));
        if (number == CLASS_ARRAY) {
            return field(array + ARRAY_HEADER_BYTES + Long.BYTES * (1L + index), 'L');
        }
        return field(array + ARRAY_HEADER_BYTES + (long) index * elementBytes(number),
                PRIMITIVES.charAt(number - CLASS_ARRAY - 1));
    }

    /** The field at this offset of the address space. */
    public String field(long at, char descriptor) {
        return switch (descriptor) {
            case 'Z' -> Boolean.toString(Memory.getBoolean(at));
            case 'B' -> Byte.toString(Memory.getByte(at));
            case 'S' -> Short.toString(Memory.getShort(at));
            case 'C' -> "'" + Memory.getChar(at) + "'";
            case 'I' -> Integer.toString(Memory.getInt(at));
            case 'J' -> Long.toString(Memory.getLong(at));
            case 'F' -> Float.toString(Memory.getFloat(at));
            case 'D' -> Double.toString(Memory.getDouble(at));
            default -> reference(Memory.getLong(at));
        };
    }

    private String reference(long word) {
        if (word == 0) {
            return "null";
        }
        return switch ((int) word & TAG_MASK) {
            case TAG_OBJECT -> state(word) + "@" + Long.toHexString(offsetOf(word));
            case TAG_TEMPORARY -> word >>> 32 == store.incarnation() ? "temporary" : "temporary in another JVM";
            case TAG_INLINE -> Inspection.value(Inspection.inlineBytes(word));
            case TAG_VALUE -> value(offsetOf(word));
            default -> "damaged: " + Long.toHexString(word);
        };
    }

    /** The object's class, or why it has none. */
    private String state(long reference) {
        try {
            return isThere(reference) ? className(reference) : "destroyed";
        } catch (dev.norn.sas.exception.ContainerDamaged e) {
            return "damaged";
        }
    }

    private String value(long at) {
        int length = lengthOf(Memory.getLong(at));
        byte[] bytes = Memory.bytes(at + VALUE_HEADER_BYTES, Math.min(length, valueBytesMax));
        if (length <= valueBytesMax) {
            return Inspection.value(bytes);
        }
        return bytes[0] == 'l' || bytes[0] == 'w' ? Inspection.value(bytes) + "…" : "a value of " + length + " bytes";
    }

    private String className(long reference) {
        int number = classOf(Memory.getLong(offsetOf(reference)));
        if (isArray(number)) {
            return Directory.arrayName(number) + "[" + Memory.getInt(offsetOf(reference) + ARRAY_LENGTH) + "]";
        }
        return Directory.classes(store).stream().filter(entry -> entry.first() == number)
                .map(DirectoryEntry::name).findFirst().orElse("class " + number);
    }
}
