package dev.norn.sas.store.heap;

import static dev.norn.sas.store.memory.Format.*;

/**
 * The directory's bytes: one object in the container {@code system} that heads three lists of entries.
 *
 * <pre>
 * directory: header (16) | containers | roots | classes | next free offset | next container | next class
 * entry:     header (16) | next | first | second | third | length of the text (32) | text in UTF-8
 * container: offset, pages, number (32), rule for destroying (32); its name
 * root:      reference; its name
 * class:     number; its description, whose first line is the name
 * </pre>
 */
public final class DirectoryFormat {
    public static final String SYSTEM = "system";
    public static final long SYSTEM_PAGES = 16384;
    /** The directory is the first object of the first container. */
    public static final long DIRECTORY = reference(CONTAINERS + Range.firstPageOffset(SYSTEM_PAGES), 0);
    public static final int NEXT_OFFSET = 40;
    public static final int NEXT_CONTAINER = 48;
    public static final int NEXT_CLASS = 56;
    public static final int DIRECTORY_BYTES = 64;
    public static final int ENTRY_NEXT = 16;
    public static final int ENTRY_FIRST = 24;
    public static final int ENTRY_SECOND = 32;
    public static final int ENTRY_THIRD = 40;
    public static final int ENTRY_DESTROYS = 44;
    public static final int ENTRY_TEXT_LENGTH = 48;
    public static final int ENTRY_TEXT = 52;

    private DirectoryFormat() {}
}
