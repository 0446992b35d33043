package dev.norn.sas.store.heap;

import static dev.norn.sas.store.heap.DirectoryFormat.*;
import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.heap.DirectoryEntry.Kind;
import dev.norn.sas.store.memory.Memory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the directory where no lock is held: what is there while the store is opened, and which container has an
 * offset. What it finds may be of a transaction that has not ended.
 */
public final class DirectoryReader {
    private DirectoryReader() {}

    /** Makes the first container known where the pool has it already. */
    public static void addSystem(RangeTable ranges) {
        if (Memory.getLong(CONTAINERS + CONTAINER_MAGIC) == MAGIC) {
            ranges.add(new Range(0, SYSTEM, CONTAINERS, SYSTEM_PAGES, true));
        }
    }

    /**
     * @throws dev.norn.sas.exception.StorageReadFailure if the offset is in the container that has the directory:
     * without it, the store does not open
     */
    public static void requireOther(Path directory, long offset) {
        if (isOfDirectory(offset)) {
            throw new dev.norn.sas.exception.StorageReadFailure("the container " + SYSTEM + " of " + directory
                    + ", which has the names of all others, is missing, cut off or cannot be written: put "
                    + SYSTEM + ".container back, or restore the store from a backup");
        }
    }

    private static boolean isOfDirectory(long offset) {
        return offset < CONTAINERS + Range.span(SYSTEM_PAGES);
    }

    /** Whether a container that the pool was made without has its file again. */
    public static boolean hasFileBack(RangeTable ranges) throws IOException {
        if (ranges.ofNumber(0) == null || !ranges.isObject(DIRECTORY)) {
            return false;
        }
        for (DirectoryEntry entry : read(Kind.CONTAINER)) {
            Path path = ranges.pool().directory.resolve(entry.name() + ".container");
            if (Memory.getLong(entry.first() + CONTAINER_DAMAGED_PAGE) == FILE_MISSING && Files.exists(path)
                    && ContainerFile.readHeader(ranges.pool(), path) != null) {
                return true;
            }
        }
        return false;
    }

    /** The same where the store has containers, but not the one with the directory. */
    public static void requirePresent(RangeTable ranges) throws IOException {
        try (var files = Files.newDirectoryStream(ranges.pool().directory, "*.container")) {
            if (ranges.ofNumber(0) == null && files.iterator().hasNext()) {
                requireOther(ranges.pool().directory, CONTAINERS);
            }
        }
    }

    /** Says of containers that have no file, or none that can be trusted, that they are damaged. */
    public static void markMissing(RangeTable ranges) {
        if (ranges.ofNumber(0) == null || ranges.ofNumber(0).pagesUsed() == 0) {
            return;
        }
        for (DirectoryEntry entry : read(Kind.CONTAINER)) {
            if (ranges.ofNumber((int) entry.third()) == null) {
                ContainerFile.loadNothing(ranges.pool(), range(ranges, entry));
            }
        }
    }

    /** Whether the directory's making was cut off, and undone. */
    public static boolean isUndone(RangeTable ranges) {
        return !ranges.isObject(DIRECTORY) && Files.notExists(ranges.pool().directory.resolve(SYSTEM + ".container"));
    }

    public static List<DirectoryEntry> read(Kind kind) {
        List<DirectoryEntry> entries = new ArrayList<>();
        for (long reference = Memory.getLong(offsetOf(DIRECTORY) + kind.head()); reference != 0;) {
            DirectoryEntry entry = entry(reference);
            entries.add(entry);
            reference = next(offsetOf(reference));
        }
        return entries;
    }

    private static DirectoryEntry entry(long reference) {
        return entry(reference, offsetOf(reference));
    }

    /** The entry with this reference, which is here, or of which a copy is. */
    public static DirectoryEntry entry(long reference, long at) {
        String text = new String(Memory.bytes(at + ENTRY_TEXT, Memory.getInt(at + ENTRY_TEXT_LENGTH)),
                StandardCharsets.UTF_8);
        return new DirectoryEntry(reference, text, Memory.getLong(at + ENTRY_FIRST), Memory.getLong(at + ENTRY_SECOND),
                Memory.getLong(at + ENTRY_THIRD));
    }

    /** The reference of the entry after this one; 0 if it is the last. */
    public static long next(long at) {
        return Memory.getLong(at + ENTRY_NEXT);
    }

    /**
     * The entries of a list as they are now, read without a lock. Those of transactions that have not ended are among
     * them; one whose making is undone meanwhile makes the walk begin again, since other data may be in its place.
     */
    public static List<DirectoryEntry> readUnlocked(RangeTable ranges, Kind kind) {
        for (;;) {
            long lock = Memory.getVolatile(offsetOf(DIRECTORY) + OBJECT_LOCK);
            List<DirectoryEntry> entries = new ArrayList<>();
            if (walk(ranges, Memory.getVolatile(offsetOf(DIRECTORY) + kind.head()), entries)) {
                return entries;
            }
            if (lock >= 0 && lock == Memory.getVolatile(offsetOf(DIRECTORY) + OBJECT_LOCK)) {
                throw new dev.norn.sas.exception.StorageReadFailure("the list of " + kind + " entries in the container "
                        + SYSTEM + " of " + ranges.pool().directory + " is damaged: restore the store from a backup");
            }
            ranges.awaitQuiet(DIRECTORY);
        }
    }

    /** Returns false where an entry is gone. */
    private static boolean walk(RangeTable ranges, long first, List<DirectoryEntry> entries) {
        for (long reference = first; reference != 0;) {
            if (!isEntry(ranges, reference)) {
                return false;
            }
            int textBytes = Memory.getInt(offsetOf(reference) + ENTRY_TEXT_LENGTH);
            if (textBytes < 0
                    || ENTRY_TEXT + textBytes > granulesOf(Memory.getLong(offsetOf(reference))) * GRANULE_BYTES) {
                return false;
            }
            DirectoryEntry entry = entry(reference);
            long next = Memory.getVolatile(offsetOf(reference) + ENTRY_NEXT);
            if (!isEntry(ranges, reference)) {
                return false;
            }
            entries.add(entry);
            reference = next;
        }
        return true;
    }

    private static boolean isEntry(RangeTable ranges, long reference) {
        return ranges.isObject(reference) && classOf(Memory.getLong(offsetOf(reference))) == CLASS_ENTRY;
    }

    /**
     * Whether the entry's making is committed: until then, its maker has it locked, and what was undone is no object.
     */
    public static boolean isCommitted(RangeTable ranges, DirectoryEntry entry) {
        return Memory.getVolatile(offsetOf(entry.reference()) + OBJECT_LOCK) >= 0 && ranges.isObject(entry.reference());
    }

    /** The container of this entry. */
    public static Range range(RangeTable ranges, DirectoryEntry entry) {
        Range known = ranges.ofNumber((int) entry.third());
        return known != null && known.name.equals(entry.name()) && known.base == entry.first()
                && known.pagesMax == entry.second() ? known : ranges.add(fromEntry(ranges, entry));
    }

    private static Range fromEntry(RangeTable ranges, DirectoryEntry entry) {
        Path path = ranges.pool().directory.resolve(entry.name() + ".container");
        boolean isWritable = !Files.exists(path) || Files.isWritable(path);
        return new Range((int) entry.third(), entry.name(), entry.first(), entry.second(), isWritable);
    }

    /**
     * The container that holds this offset, looked up where no lock is held: another process may have made it a moment
     * ago. Null if there is none. Of the container that has the directory, the directory cannot say it.
     */
    static Range findRange(RangeTable ranges, long offset) {
        if (isOfDirectory(offset)) {
            return null;
        }
        for (DirectoryEntry entry : readUnlocked(ranges, Kind.CONTAINER)) {
            if (offset >= entry.first() && offset < entry.first() + Range.span(entry.second())) {
                Range range = fromEntry(ranges, entry);
                // One whose making is undone is not to be known here: its addresses are given out again.
                return isCommitted(ranges, entry) ? ranges.add(range) : range;
            }
        }
        return null;
    }
}
