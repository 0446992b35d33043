package dev.norn.sas.store.transaction;

import static dev.norn.sas.store.heap.DirectoryFormat.*;
import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.ContainerException;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.store.heap.DirectoryEntry.Kind;
import dev.norn.sas.store.heap.DirectoryEntry;
import dev.norn.sas.store.heap.DirectoryReader;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.log.LogFile;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.memory.StoreSettings;
import java.lang.constant.ClassDesc;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * What a store has by name: containers, roots and classes. One directory object in the container {@code system} heads
 * three lists of entries, which change under its lock like any other object.
 */
public final class Directory {
    private static final int CONTAINER_NAME_MAX = 200;
    private static final long LOG_BYTES_MIN = 1 << 14;

    private Directory() {}

    /**
     * Makes a store in an empty or new directory.
     *
     * @param addressBytes the address space of all its containers
     * @param logBytes the log's length; a transaction's record has to fit
     * @param poolFile where the pool is to be, or null for the directory itself
     */
    public static void create(Path directory, long addressBytes, long logBytes, long lockTimeoutMillis, String poolFile)
            throws IOException {
        if (logBytes < LOG_BYTES_MIN) {
            throw new SASException("a log of " + logBytes + " bytes is too short: " + LOG_BYTES_MIN + " is the least");
        }
        if (addressBytes > Memory.SPACE || addressBytes < CONTAINERS * 2) {
            throw new SASException("an address space of " + addressBytes + " bytes is not between " + CONTAINERS * 2
                    + " and " + Memory.SPACE);
        }
        if (lockTimeoutMillis < 0) {
            throw new SASException("a lock timeout of " + lockTimeoutMillis + " ms is less than 0");
        }
        java.nio.file.Files.createDirectories(directory);
        if (java.nio.file.Files.exists(directory.resolve("store.properties"))) {
            StoreFiles.requireComplete(directory);
            throw new SASException(directory + " is a store already: Store.open opens it");
        }
        Path stray = StoreFiles.find(directory);
        if (stray != null) {
            throw new SASException(directory + " has no store.properties, but " + stray.getFileName()
                    + ", which is of a store: make the new one in another directory");
        }
        LogFile.requireRoom(directory, logBytes);
        new StoreSettings(StoreSettings.FORMAT_FIRST, UUID.randomUUID(), addressBytes, logBytes, lockTimeoutMillis,
                poolFile, null).write(directory);
    }

    /** Takes a store away that could not be completed. */
    public static void remove(Path directory) throws IOException {
        StoreFiles.remove(directory);
    }

    /** Makes the directory in a store that has none yet. */
    static void format(AttachedStore store) {
        Range system = new Range(0, SYSTEM, CONTAINERS, SYSTEM_PAGES, true);
        store.pages().back(system.base, PAGE_BYTES);
        system.format();
        store.ranges().add(system);
        StoreTransaction transaction = new StoreTransaction(store);
        transaction.begin();
        transaction.addContainer(system);
        long directory = offsetOf(transaction.allocate(system, CLASS_DIRECTORY, DIRECTORY_BYTES, 0));
        Memory.putLong(directory + NEXT_OFFSET, CONTAINERS + Range.span(SYSTEM_PAGES));
        Memory.putLong(directory + NEXT_CONTAINER, 1);
        Memory.putLong(directory + NEXT_CLASS, CLASS_USER);
        long entry = add(transaction, Kind.CONTAINER, SYSTEM, CONTAINERS, SYSTEM_PAGES, 0);
        if (directory != offsetOf(DIRECTORY) || entry == 0) {
            throw new AssertionError("the directory is not the first object");
        }
        transaction.commit();
    }

    private static long add(StoreTransaction transaction, Kind kind, String text, long first, long second, long third) {
        transaction.lockExclusive(DIRECTORY);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long directory = offsetOf(DIRECTORY);
        long reference = transaction.allocate(transaction.store().ranges().ofNumber(0), CLASS_ENTRY,
                ENTRY_TEXT + bytes.length, 0);
        long entry = offsetOf(reference);
        Memory.putLong(entry + ENTRY_NEXT, Memory.getLong(directory + kind.head()));
        Memory.putLong(entry + ENTRY_FIRST, first);
        Memory.putLong(entry + ENTRY_SECOND, second);
        Memory.putLong(entry + ENTRY_THIRD, third);
        Memory.putInt(entry + ENTRY_TEXT_LENGTH, bytes.length);
        Memory.copyIn(bytes, 0, entry + ENTRY_TEXT, bytes.length);
        Memory.putLong(directory + kind.head(), reference);
        return reference;
    }

    /** All entries of a list, newest first; costs a lock and a visit to each. */
    public static List<DirectoryEntry> list(StoreTransaction transaction, Kind kind) {
        transaction.lockShared(DIRECTORY);
        return DirectoryReader.read(kind);
    }

    /**
     * The entries of a list as they are now, read without a lock. Those of transactions that have not ended are among
     * them; one whose making is undone meanwhile makes the walk begin again, since other data may be in its place.
     */
    public static List<DirectoryEntry> readUnlocked(AttachedStore store, Kind kind) {
        return DirectoryReader.readUnlocked(store.ranges(), kind);
    }

    /** The classes, read without a lock, those of transactions that have not ended among them. */
    public static List<DirectoryEntry> classes(AttachedStore store) {
        return readUnlocked(store, Kind.CLASS);
    }

    /**
     * Whether the entry's making is committed: until then, its maker has it locked, and what was undone is no object.
     */
    public static boolean isCommitted(AttachedStore store, DirectoryEntry entry) {
        return DirectoryReader.isCommitted(store.ranges(), entry);
    }

    /**
     * The entry with this name of a list from which nothing is ever removed, containers or classes, if it is committed:
     * looked up without a lock. Where there is none, the list is locked for writing, so that the answer stays true;
     * then the entry may be the running transaction's own. Null if there is none.
     */
    public static DirectoryEntry findLasting(StoreTransaction transaction, Kind kind, String name) {
        for (DirectoryEntry entry : readUnlocked(transaction.store(), kind)) {
            if (entry.name().equals(name) && isCommitted(transaction.store(), entry)) {
                transaction.hasSeen(entry.reference());
                return entry;
            }
        }
        transaction.lockExclusive(DIRECTORY);
        return find(transaction, kind, name);
    }

    /** The roots, read without a lock if no transaction changes them. */
    public static List<DirectoryEntry> roots(AttachedStore store) {
        return DirectoryReader.read(Kind.ROOT);
    }

    /** The containers, read without a lock. */
    public static List<DirectoryEntry> containers(AttachedStore store) {
        return readUnlocked(store, Kind.CONTAINER);
    }

    /** The entry with this name; null if there is none. */
    public static DirectoryEntry find(StoreTransaction transaction, Kind kind, String name) {
        for (DirectoryEntry entry : list(transaction, kind)) {
            if (entry.name().equals(name)) {
                return entry;
            }
        }
        return null;
    }

    /** Names an object, or gives the name to another, or takes it away if {@code reference} is 0. */
    public static void setRoot(StoreTransaction transaction, String name, long reference) {
        if (name.isEmpty() || name.contains("\n")) {
            throw new SASException("a root's name is one line: \"" + name + "\"");
        }
        transaction.lockExclusive(DIRECTORY);
        DirectoryEntry entry = find(transaction, Kind.ROOT, name);
        if (entry == null && reference != 0) {
            add(transaction, Kind.ROOT, name, reference, 0, 0);
        } else if (entry != null && reference != 0) {
            transaction.lockExclusive(entry.reference());
            Memory.putLong(offsetOf(entry.reference()) + ENTRY_FIRST, reference);
        } else if (entry != null) {
            remove(transaction, Kind.ROOT, entry);
        }
    }

    private static void remove(StoreTransaction transaction, Kind kind, DirectoryEntry entry) {
        long next = Memory.getLong(offsetOf(entry.reference()) + ENTRY_NEXT);
        long before = offsetOf(DIRECTORY);
        int link = kind.head();
        while (Memory.getLong(before + link) != entry.reference()) {
            before = offsetOf(Memory.getLong(before + link));
            link = ENTRY_NEXT;
        }
        if (before != offsetOf(DIRECTORY)) {
            transaction.lockExclusive(reference(before, generationOf(Memory.getLong(before))));
        }
        Memory.putLong(before + link, next);
        transaction.destroy(entry.reference());
    }

    /** Adds a class's description; returns its number. */
    public static int addClass(StoreTransaction transaction, String description) {
        transaction.lockExclusive(DIRECTORY);
        long number = Memory.getLong(offsetOf(DIRECTORY) + NEXT_CLASS);
        Memory.putLong(offsetOf(DIRECTORY) + NEXT_CLASS, number + 1);
        if (number > 0xFFFF) {
            throw new SASException("a store has no more than " + (0x10000 - CLASS_USER) + " classes");
        }
        add(transaction, Kind.CLASS, description, number, 0, 0);
        return (int) number;
    }

    /** Takes a class's description away, when it has no instances. */
    public static void removeClass(StoreTransaction transaction, int number) {
        transaction.lockExclusive(DIRECTORY);
        list(transaction, Kind.CLASS).stream()
                .filter(entry -> entry.first() == number).forEach(entry -> remove(transaction, Kind.CLASS, entry));
    }

    /**
     * Creates a container with this maximum number of pages.
     *
     * @throws ContainerException if the name is taken or no file's name, or the address space is used up
     */
    public static Range createContainer(StoreTransaction transaction, String name, long pages) {
        if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]*")) {
            throw new ContainerException("a container's name is letters, digits, '.', '_' and '-': \"" + name + "\"");
        }
        if (name.length() > CONTAINER_NAME_MAX) {
            throw new ContainerException("a container's name has at most " + CONTAINER_NAME_MAX
                    + " characters, as its file has its name; this one has " + name.length());
        }
        if (pages <= 0) {
            throw new ContainerException("container " + name + " would hold " + pages + " pages");
        }
        transaction.lockExclusive(DIRECTORY);
        if (find(transaction, Kind.CONTAINER, name) != null) {
            throw new ContainerException("there is a container " + name + " already");
        }
        AttachedStore store = transaction.store();
        long base = Memory.getLong(offsetOf(DIRECTORY) + NEXT_OFFSET);
        int id = (int) Memory.getLong(offsetOf(DIRECTORY) + NEXT_CONTAINER);
        if (base + Range.span(pages) > store.pages().settings.addressBytes()) {
            throw new ContainerException("container " + name + " with " + pages
                    + " pages does not fit the store's address space of "
                    + store.pages().settings.addressBytes() + " bytes, of which " + base + " are given out");
        }
        Range range = new Range(id, name, base, pages, true);
        store.pages().back(base, PAGE_BYTES);
        range.format();
        Memory.putLong(offsetOf(DIRECTORY) + NEXT_OFFSET, base + Range.span(pages));
        Memory.putLong(offsetOf(DIRECTORY) + NEXT_CONTAINER, id + 1L);
        add(transaction, Kind.CONTAINER, name, base, pages, id);
        transaction.addContainer(range);
        return store.ranges().add(range);
    }

    /** The container of this entry. */
    public static Range range(AttachedStore store, DirectoryEntry entry) {
        return DirectoryReader.range(store.ranges(), entry);
    }

    /** The class of the object, or why it has none. */
    public static String className(AttachedStore store, long reference) {
        if (!store.isObject(reference)) {
            return "destroyed";
        }
        int number = classOf(Memory.getLong(offsetOf(reference)));
        if (number == CLASS_ARRAY) {
            return "array of references, " + Memory.getInt(offsetOf(reference) + ARRAY_LENGTH);
        }
        if (isArray(number)) {
            return arrayName(number) + "[" + Memory.getInt(offsetOf(reference) + ARRAY_LENGTH) + "]";
        }
        DirectoryEntry entry = classEntry(store, number);
        return entry == null ? "class " + number : entry.name();
    }

    /** The entry of the class with this number; null if there is none. */
    public static DirectoryEntry classEntry(AttachedStore store, int number) {
        return classes(store).stream().filter(entry -> entry.first() == number).findFirst().orElse(null);
    }

    /** What an array of this class has. */
    public static String arrayName(int number) {
        return number == CLASS_ARRAY ? "references"
                : ClassDesc.ofDescriptor(PRIMITIVES.substring(number - CLASS_ARRAY - 1,
                        number - CLASS_ARRAY)).displayName();
    }
}
