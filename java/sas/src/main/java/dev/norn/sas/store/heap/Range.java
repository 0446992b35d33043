package dev.norn.sas.store.heap;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.ContainerDamaged;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.StoreFiles;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A container's part of the address space: header page, page descriptors, pages. Sizes in pages of 4,096 bytes, offsets
 * in bytes.
 */
public final class Range {
    private static volatile boolean anyDamaged;

    public final int id;
    public final String name;
    public final long base;
    public final long pagesMax;
    private final long firstPage;
    /** Whether this JVM may store into it. */
    public final boolean isWritable;
    /** Pages in which this JVM freed something. */
    final ConcurrentLinkedQueue<Long> freed = new ConcurrentLinkedQueue<>();
    /** The container's entry in the directory, once it was looked up; 0 before. */
    private volatile long entry;

    public Range(int id, String name, long base, long pagesMax, boolean isWritable) {
        this.id = id;
        this.name = name;
        this.base = base;
        this.pagesMax = pagesMax;
        this.isWritable = isWritable;
        firstPage = base + firstPageOffset(pagesMax);
    }

    /** Where the first page is in the container, and in its file. */
    static long firstPageOffset(long pagesMax) {
        return PAGE_BYTES + (pagesMax * DESCRIPTOR_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }

    public long entry() {
        return entry;
    }

    public void entry(long reference) {
        entry = reference;
    }

    /** Bytes of address space that a container with this number of pages takes. */
    public static long span(long pagesMax) {
        long unit = 1L << CONTAINER_ALIGNMENT_BITS;
        return (firstPageOffset(pagesMax) + pagesMax * PAGE_BYTES + unit - 1) / unit * unit;
    }

    /** The parts of the address space that are the container's, by number. */
    public java.util.stream.IntStream units() {
        int first = (int) (base >> CONTAINER_ALIGNMENT_BITS);
        return java.util.stream.IntStream.range(first, first + (int) (span(pagesMax) >> CONTAINER_ALIGNMENT_BITS));
    }

    public long descriptor(long page) {
        return base + PAGE_BYTES + page * DESCRIPTOR_BYTES;
    }

    public long pageOffset(long page) {
        return firstPage + (page << PAGE_BITS);
    }

    public long pageOf(long offset) {
        return offset - firstPage >> PAGE_BITS;
    }

    public int granuleOf(long offset) {
        return (int) (offset - firstPage & PAGE_BYTES - 1) / GRANULE_BYTES;
    }

    public boolean contains(long offset) {
        return offset >= firstPage && offset < firstPage + (pagesMax << PAGE_BITS);
    }

    public long bytesMax() {
        return pagesMax * PAGE_BYTES;
    }

    public long bytesUsed() {
        return pagesUsed() * PAGE_BYTES;
    }

    public long pagesUsed() {
        return Memory.getVolatile(base + CONTAINER_PAGES_USED);
    }

    int generation(long page) {
        return Memory.getInt(descriptor(page) + DESCRIPTOR_GENERATION);
    }

    /** Whether the page has given out its last generation. */
    boolean isRetired(long page) {
        return generation(page) >= RETIRED;
    }

    /** Retired pages; costs a look at each. */
    public long pagesRetired() {
        return java.util.stream.LongStream.range(0, pagesUsed()).filter(this::isRetired).count();
    }

    /** Whether an object starts at {@code offset}. */
    public boolean startsAt(long offset) {
        if (!contains(offset) || (offset & GRANULE_BYTES - 1) != 0) {
            return false;
        }
        int granule = granuleOf(offset);
        return (Memory.getVolatile(descriptor(pageOf(offset)) + (granule >> 6) * 8L) >>> granule & 1) != 0;
    }

    /** Where the object begins that has this place; 0 if none has. */
    public long startOf(long offset) {
        int granule = granuleOf(offset);
        for (long page = pageOf(offset); page >= 0; page--) {
            for (int word = granule >> 6; word >= 0; word--) {
                long starts = Memory.getVolatile(descriptor(page) + word * 8L)
                        & (word == granule >> 6 ? -1L >>> 63 - (granule & 63) : -1L);
                if (starts != 0) {
                    int start = word * 64 + 63 - Long.numberOfLeadingZeros(starts);
                    return pageOffset(page) + (long) start * GRANULE_BYTES;
                }
            }
            if (Memory.getInt(descriptor(page) + DESCRIPTOR_SPAN) != SPAN_INTERIOR) {
                return 0;
            }
            granule = GRANULES - 1;
        }
        return 0;
    }

    void setStart(long offset) {
        int granule = granuleOf(offset);
        long word = descriptor(pageOf(offset)) + (granule >> 6) * 8L;
        Memory.putRelease(word, Memory.getLong(word) | 1L << granule);
    }

    void clearStart(long offset) {
        int granule = granuleOf(offset);
        long word = descriptor(pageOf(offset)) + (granule >> 6) * 8L;
        Memory.putRelease(word, Memory.getLong(word) & ~(1L << granule));
    }

    /** Writes the header of a container that is new in the pool. */
    public void format() {
        Memory.putLong(base + CONTAINER_ID, id);
        Memory.putLong(base + CONTAINER_PAGES_MAX, pagesMax);
        Memory.putLong(base + CONTAINER_PAGES_USED, 0);
        Memory.putLong(base + CONTAINER_GROW_LATCH, 0);
        Memory.putLong(base + CONTAINER_DAMAGED_PAGE, 0);
        Memory.putRelease(base + CONTAINER_MAGIC, MAGIC);
    }

    /** The page of the container's file cannot be trusted. */
    void damage(long page) {
        Memory.putLong(base + CONTAINER_DAMAGED_PAGE, page + 1);
        anyDamaged = true;
    }

    /** The container's file is missing, or as good as that. */
    void miss() {
        Memory.putLong(base + CONTAINER_DAMAGED_PAGE, FILE_MISSING);
        anyDamaged = true;
    }

    /** Whether the pool was made without the container's file. */
    public boolean isMissing() {
        return Memory.getLong(base + CONTAINER_DAMAGED_PAGE) == FILE_MISSING;
    }

    /** Whether all of the container is in the pool. */
    public boolean isWhole() {
        return Memory.getLong(base + CONTAINER_DAMAGED_PAGE) == 0;
    }

    /** Takes note of what the JVM that made the pool found. */
    void noteDamage() {
        anyDamaged |= Memory.getLong(base + CONTAINER_DAMAGED_PAGE) != 0;
    }

    /** Whether this JVM has met a damaged container: then what is read without a lock has to be checked, too. */
    public static boolean anyDamaged() {
        return anyDamaged;
    }

    /** @throws ContainerDamaged if a check of the file has failed */
    public void check() {
        long damaged = Memory.getLong(base + CONTAINER_DAMAGED_PAGE);
        if (damaged == FILE_MISSING) {
            throw new ContainerDamaged("container " + name + ": its file " + name + ".container is missing, cut off, "
                    + "damaged in its header, or cannot be read and written: put it back, and open the store when no "
                    + "other program uses it; what was committed and is not in it waits in " + StoreFiles.UNAPPLIED);
        }
        if (damaged != 0) {
            throw new ContainerDamaged("container " + name + " is damaged at page " + (damaged - 1)
                    + ": restore the store from a backup");
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
