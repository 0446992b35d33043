package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import dev.norn.sas.ContainerException;
import dev.norn.sas.SASException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * What a store has by name: containers, roots and classes. One directory object in the container {@code system} heads
 * three lists of entries, which change under its lock like any other object.
 *
 * <pre>
 * directory: header (16) | containers | roots | classes | next free offset | next container | next class
 * entry:     header (16) | next | first | second | third | length of the text (32) | text in UTF-8
 * container: offset, pages, number; its name.   root: reference.   class: number; its description, whose first line is the name
 * </pre>
 */
public final class Directory {
    /** Which list. */
    public enum Kind {
        CONTAINER(16), ROOT(24), CLASS(32);

        private final int head;

        Kind(int head) {
            this.head = head;
        }
    }

    /** An entry as it was read. */
    public record Entry(long reference, String text, long first, long second, long third) {
        /** The first line of the text. */
        public String name() {
            int end = text.indexOf('\n');
            return end < 0 ? text : text.substring(0, end);
        }
    }

    private static final int CONTAINER_NAME_MAX = 200;
    private static final String SYSTEM = "system";
    private static final long SYSTEM_PAGES = 16384;
    private static final long LOG_BYTES_MIN = 1 << 14;
    private static final int NEXT_OFFSET = 40;
    private static final int NEXT_CONTAINER = 48;
    private static final int NEXT_CLASS = 56;
    private static final int DIRECTORY_BYTES = 64;
    private static final int ENTRY_NEXT = 16;
    private static final int ENTRY_FIRST = 24;
    private static final int ENTRY_SECOND = 32;
    private static final int ENTRY_THIRD = 40;
    private static final int ENTRY_TEXT_LENGTH = 48;
    private static final int ENTRY_TEXT = 52;
    /** The directory is the first object of the first container. */
    private static final long DIRECTORY = reference(CONTAINERS + Range.firstPageOffset(SYSTEM_PAGES), 0);

    private Directory() {}

    /**
     * Makes a store in an empty or new directory.
     *
     * @param addressBytes the address space of all its containers
     * @param logBytes the log's length; a transaction's record has to fit
     * @param pool where the pool is to be, or null for the directory itself
     */
    public static void create(Path directory, long addressBytes, long logBytes, long lockTimeoutMillis, String pool) throws IOException {
        if (logBytes < LOG_BYTES_MIN) {
            throw new SASException("a log of " + logBytes + " bytes is too short: " + LOG_BYTES_MIN + " is the least");
        }
        if (addressBytes > Memory.SPACE || addressBytes < CONTAINERS * 2) {
            throw new SASException("an address space of " + addressBytes + " bytes is not between " + CONTAINERS * 2 + " and " + Memory.SPACE);
        }
        java.nio.file.Files.createDirectories(directory);
        if (java.nio.file.Files.exists(directory.resolve("store.properties"))) {
            StoreFiles.requireComplete(directory);
            throw new SASException(directory + " is a store already");
        }
        Path stray = StoreFiles.find(directory);
        if (stray != null) {
            throw new SASException(directory + " has no store.properties, but " + stray.getFileName() + ", which is of a store: make the new one in another directory");
        }
        LogFile.requireRoom(directory, logBytes);
        new StoreSettings(UUID.randomUUID(), addressBytes, logBytes, lockTimeoutMillis, pool, null).write(directory);
    }

    /** Takes a store away that could not be completed. */
    public static void remove(Path directory) throws IOException {
        StoreFiles.remove(directory);
    }

    /** Makes the first container known where the pool has it already. */
    static void addSystem(Pool pool) {
        if (Memory.getLong(CONTAINERS + CONTAINER_MAGIC) == MAGIC) {
            pool.ranges().add(new Range(0, SYSTEM, CONTAINERS, SYSTEM_PAGES, true));
        }
    }

    /**
     * @throws dev.norn.sas.StorageReadFailure if the offset is in the container that has the directory: without it, the
     * store does not open
     */
    static void requireOther(Pool pool, long offset) {
        if (offset < CONTAINERS + Range.span(SYSTEM_PAGES)) {
            throw new dev.norn.sas.StorageReadFailure("the container " + SYSTEM + " of " + pool.directory
                    + ", which has the names of all others, is missing, cut off or cannot be written: put "
                    + SYSTEM + ".container back, or restore the store from a backup");
        }
    }

    /** Whether a container that the pool was made without has its file again. */
    static boolean hasFileBack(Pool pool) throws IOException {
        if (pool.ranges().ofNumber(0) == null || !pool.isObject(DIRECTORY)) {
            return false;
        }
        for (Entry entry : read(Kind.CONTAINER)) {
            Path path = pool.directory.resolve(entry.name() + ".container");
            if (Memory.getLong(entry.first + CONTAINER_DAMAGED_PAGE) == FILE_MISSING && java.nio.file.Files.exists(path) && ContainerFile.readHeader(pool, path) != null) {
                return true;
            }
        }
        return false;
    }

    /** The same where the store has containers, but not the one with the directory. */
    static void requirePresent(Pool pool) throws IOException {
        try (var files = java.nio.file.Files.newDirectoryStream(pool.directory, "*.container")) {
            if (pool.ranges().ofNumber(0) == null && files.iterator().hasNext()) {
                requireOther(pool, CONTAINERS);
            }
        }
    }

    /** Says of containers that have no file, or none that can be trusted, that they are damaged. */
    static void markMissing(Pool pool) {
        if (pool.ranges().ofNumber(0) == null || pool.ranges().ofNumber(0).pagesUsed() == 0) {
            return;
        }
        for (Entry entry : read(Kind.CONTAINER)) {
            if (pool.ranges().ofNumber((int) entry.third) == null) {
                ContainerFile.loadNothing(pool, range(pool, entry));
            }
        }
    }

    /** Whether the directory's making was cut off, and undone. */
    static boolean isUndone(Pool pool) {
        return !pool.isObject(DIRECTORY) && java.nio.file.Files.notExists(pool.directory.resolve(SYSTEM + ".container"));
    }

    /** Makes the directory in a store that has none yet. */
    static void format(Pool pool) {
        Range system = new Range(0, SYSTEM, CONTAINERS, SYSTEM_PAGES, true);
        pool.file().back(system.base, PAGE_BYTES);
        system.format();
        pool.ranges().add(system);
        Work work = new Work(pool);
        work.begin();
        work.addContainer(system);
        long directory = offsetOf(work.allocate(system, CLASS_DIRECTORY, DIRECTORY_BYTES, 0));
        Memory.putLong(directory + NEXT_OFFSET, CONTAINERS + Range.span(SYSTEM_PAGES));
        Memory.putLong(directory + NEXT_CONTAINER, 1);
        Memory.putLong(directory + NEXT_CLASS, CLASS_USER);
        long entry = add(work, Kind.CONTAINER, SYSTEM, CONTAINERS, SYSTEM_PAGES, 0);
        if (directory != offsetOf(DIRECTORY) || entry == 0) {
            throw new AssertionError("the directory is not the first object");
        }
        work.commit();
    }

    private static long add(Work work, Kind kind, String text, long first, long second, long third) {
        work.lockExclusive(DIRECTORY);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long directory = offsetOf(DIRECTORY);
        long reference = work.allocate(work.pool().ranges().ofNumber(0), CLASS_ENTRY, ENTRY_TEXT + bytes.length, 0);
        long entry = offsetOf(reference);
        Memory.putLong(entry + ENTRY_NEXT, Memory.getLong(directory + kind.head));
        Memory.putLong(entry + ENTRY_FIRST, first);
        Memory.putLong(entry + ENTRY_SECOND, second);
        Memory.putLong(entry + ENTRY_THIRD, third);
        Memory.putInt(entry + ENTRY_TEXT_LENGTH, bytes.length);
        Memory.copyIn(bytes, 0, entry + ENTRY_TEXT, bytes.length);
        Memory.putLong(directory + kind.head, reference);
        return reference;
    }

    /** All entries of a list, newest first; costs a lock and a visit to each. */
    public static List<Entry> list(Work work, Kind kind) {
        work.lockShared(DIRECTORY);
        return read(kind);
    }

    private static List<Entry> read(Kind kind) {
        List<Entry> entries = new ArrayList<>();
        for (long reference = Memory.getLong(offsetOf(DIRECTORY) + kind.head); reference != 0;) {
            Entry entry = entry(reference);
            entries.add(entry);
            reference = Memory.getLong(offsetOf(reference) + ENTRY_NEXT);
        }
        return entries;
    }

    private static Entry entry(long reference) {
        long at = offsetOf(reference);
        String text = new String(Memory.bytes(at + ENTRY_TEXT, Memory.getInt(at + ENTRY_TEXT_LENGTH)), StandardCharsets.UTF_8);
        return new Entry(reference, text, Memory.getLong(at + ENTRY_FIRST), Memory.getLong(at + ENTRY_SECOND), Memory.getLong(at + ENTRY_THIRD));
    }

    /**
     * The entries of a list as they are now, read without a lock. Those of transactions that have not ended are among
     * them; one whose making is undone meanwhile makes the walk begin again, since other data may be in its place.
     */
    static List<Entry> glance(Pool pool, Kind kind) {
        for (;;) {
            long lock = Memory.getVolatile(offsetOf(DIRECTORY) + OBJECT_LOCK);
            List<Entry> entries = new ArrayList<>();
            if (walk(pool, Memory.getVolatile(offsetOf(DIRECTORY) + kind.head), entries)) {
                return entries;
            }
            if (lock >= 0 && lock == Memory.getVolatile(offsetOf(DIRECTORY) + OBJECT_LOCK)) {
                throw new dev.norn.sas.StorageReadFailure("the list of " + kind + " entries in the container " + SYSTEM + " of " + pool + " is damaged: restore the store from a backup");
            }
            pool.quiet(DIRECTORY);
        }
    }

    /** Returns false where an entry is gone. */
    private static boolean walk(Pool pool, long first, List<Entry> entries) {
        for (long reference = first; reference != 0;) {
            if (!isEntry(pool, reference)) {
                return false;
            }
            int textBytes = Memory.getInt(offsetOf(reference) + ENTRY_TEXT_LENGTH);
            if (textBytes < 0 || ENTRY_TEXT + textBytes > granulesOf(Memory.getLong(offsetOf(reference))) * GRANULE_BYTES) {
                return false;
            }
            Entry entry = entry(reference);
            long next = Memory.getVolatile(offsetOf(reference) + ENTRY_NEXT);
            if (!isEntry(pool, reference)) {
                return false;
            }
            entries.add(entry);
            reference = next;
        }
        return true;
    }

    private static boolean isEntry(Pool pool, long reference) {
        return pool.isObject(reference) && classOf(Memory.getLong(offsetOf(reference))) == CLASS_ENTRY;
    }

    /** The classes, read without a lock, those of transactions that have not ended among them. */
    public static List<Entry> classes(Pool pool) {
        return glance(pool, Kind.CLASS);
    }

    /**
     * Whether the entry's making is committed: until then, its maker has it locked, and what was undone is no object.
     */
    public static boolean isCommitted(Pool pool, Entry entry) {
        return Memory.getVolatile(offsetOf(entry.reference) + OBJECT_LOCK) >= 0 && pool.isObject(entry.reference);
    }

    /**
     * The entry with this name of a list from which nothing is ever removed, containers or classes, if it is committed:
     * looked up without a lock. Where there is none, the list is locked for writing, so that the answer stays true;
     * then the entry may be the running transaction's own. Null if there is none.
     */
    public static Entry findLasting(Work work, Kind kind, String name) {
        for (Entry entry : glance(work.pool(), kind)) {
            if (entry.name().equals(name) && isCommitted(work.pool(), entry)) {
                work.hasSeen(entry.reference);
                return entry;
            }
        }
        work.lockExclusive(DIRECTORY);
        return find(work, kind, name);
    }

    /** The roots, read without a lock if no transaction changes them. */
    static List<Entry> roots(Pool pool) {
        return read(Kind.ROOT);
    }

    /** The containers, read without a lock. */
    public static List<Entry> containers(Pool pool) {
        return glance(pool, Kind.CONTAINER);
    }

    /** The entry with this name; null if there is none. */
    public static Entry find(Work work, Kind kind, String name) {
        for (Entry entry : list(work, kind)) {
            if (entry.name().equals(name)) {
                return entry;
            }
        }
        return null;
    }

    /** Names an object, or gives the name to another, or takes it away if {@code reference} is 0. */
    public static void setRoot(Work work, String name, long reference) {
        if (name.isEmpty() || name.contains("\n")) {
            throw new SASException("a root's name is one line: \"" + name + "\"");
        }
        work.lockExclusive(DIRECTORY);
        Entry entry = find(work, Kind.ROOT, name);
        if (entry == null && reference != 0) {
            add(work, Kind.ROOT, name, reference, 0, 0);
        } else if (entry != null && reference != 0) {
            work.lockExclusive(entry.reference);
            Memory.putLong(offsetOf(entry.reference) + ENTRY_FIRST, reference);
        } else if (entry != null) {
            remove(work, Kind.ROOT, entry);
        }
    }

    private static void remove(Work work, Kind kind, Entry entry) {
        long next = Memory.getLong(offsetOf(entry.reference) + ENTRY_NEXT);
        long before = offsetOf(DIRECTORY);
        int link = kind.head;
        while (Memory.getLong(before + link) != entry.reference) {
            before = offsetOf(Memory.getLong(before + link));
            link = ENTRY_NEXT;
        }
        if (before != offsetOf(DIRECTORY)) {
            work.lockExclusive(reference(before, generationOf(Memory.getLong(before))));
        }
        Memory.putLong(before + link, next);
        work.destroy(entry.reference);
    }

    /** Adds a class's description; returns its number. */
    public static int addClass(Work work, String description) {
        work.lockExclusive(DIRECTORY);
        long number = Memory.getLong(offsetOf(DIRECTORY) + NEXT_CLASS);
        Memory.putLong(offsetOf(DIRECTORY) + NEXT_CLASS, number + 1);
        if (number > 0xFFFF) {
            throw new SASException("a store has no more than " + (0x10000 - CLASS_USER) + " classes");
        }
        add(work, Kind.CLASS, description, number, 0, 0);
        return (int) number;
    }

    /** Takes a class's description away, when it has no instances. */
    static void removeClass(Work work, int number) {
        work.lockExclusive(DIRECTORY);
        list(work, Kind.CLASS).stream().filter(entry -> entry.first == number).forEach(entry -> remove(work, Kind.CLASS, entry));
    }

    /**
     * Creates a container with this maximum number of pages.
     *
     * @throws ContainerException if the name is taken or no file's name, or the address space is used up
     */
    public static Range createContainer(Work work, String name, long pages) {
        if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]*")) {
            throw new ContainerException("a container's name is letters, digits, '.', '_' and '-': \"" + name + "\"");
        }
        if (name.length() > CONTAINER_NAME_MAX) {
            throw new ContainerException("a container's name has at most " + CONTAINER_NAME_MAX + " characters, as its file has its name; this one has " + name.length());
        }
        if (pages <= 0) {
            throw new ContainerException("container " + name + " would hold " + pages + " pages");
        }
        work.lockExclusive(DIRECTORY);
        if (find(work, Kind.CONTAINER, name) != null) {
            throw new ContainerException("there is a container " + name + " already");
        }
        Pool pool = work.pool();
        long base = Memory.getLong(offsetOf(DIRECTORY) + NEXT_OFFSET);
        int id = (int) Memory.getLong(offsetOf(DIRECTORY) + NEXT_CONTAINER);
        if (base + Range.span(pages) > pool.settings.addressBytes()) {
            throw new ContainerException("container " + name + " with " + pages + " pages does not fit the store's address space of "
                    + pool.settings.addressBytes() + " bytes, of which " + base + " are given out");
        }
        Range range = new Range(id, name, base, pages, true);
        pool.file().back(base, PAGE_BYTES);
        range.format();
        Memory.putLong(offsetOf(DIRECTORY) + NEXT_OFFSET, base + Range.span(pages));
        Memory.putLong(offsetOf(DIRECTORY) + NEXT_CONTAINER, id + 1L);
        add(work, Kind.CONTAINER, name, base, pages, id);
        work.addContainer(range);
        return pool.ranges().add(range);
    }

    /** The container of this entry. */
    public static Range range(Pool pool, Entry entry) {
        Range known = pool.ranges().ofNumber((int) entry.third);
        return known != null && known.name.equals(entry.name()) && known.base == entry.first && known.pagesMax == entry.second ? known : pool.ranges().add(fromEntry(pool, entry));
    }

    private static Range fromEntry(Pool pool, Entry entry) {
        Path path = pool.directory.resolve(entry.name() + ".container");
        boolean isWritable = !java.nio.file.Files.exists(path) || java.nio.file.Files.isWritable(path);
        return new Range((int) entry.third, entry.name(), entry.first, entry.second, isWritable);
    }

    /**
     * The container that holds this offset, looked up where no lock is held: another process may have made it a moment
     * ago. Null if there is none.
     */
    static Range findRange(Pool pool, long offset) {
        for (Entry entry : glance(pool, Kind.CONTAINER)) {
            if (offset >= entry.first && offset < entry.first + Range.span(entry.second)) {
                Range range = fromEntry(pool, entry);
                // One whose making is undone is not to be known here: its addresses are given out again.
                return isCommitted(pool, entry) ? pool.ranges().add(range) : range;
            }
        }
        return null;
    }
}
