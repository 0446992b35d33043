package dev.norn.sas.store.heap;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.ContainerFull;
import dev.norn.sas.store.memory.Latch;
import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.PagePool;
import dev.norn.sas.store.memory.TransactionSlot;

/**
 * Allocation in a container. A bit for each granule of a page says where objects start. Their headers say how long they
 * are, so the granules between objects are free. An object does not cross a page unless it is larger than one; then it
 * has pages of its own.
 *
 * <p>A page changes under its latch, the number of pages under the container's. The undo entry of an allocation is
 * published under that latch before the bit is set, and is marked as done under it, so that undoing twice does no harm;
 * one that was cut off before the bit was set is marked as done before the latch is freed. Room for the entry is made
 * before the latch is taken.
 *
 * <p>Each free gives a page a new generation. A page that has given out its last one is retired: what lives there
 * stays, but nothing is allocated there again.
 */
public final class Allocator {
    private static final int PAGES_BACKED = 256;
    private static final int SCANNED_MAX = 16;
    /**
     * What an entry that leads to a free has as its content: the object's first word, without the mark of those that
     * are destroyed.
     */
    public static final int CONTENT_BYTES = 8;

    private final PagePool pool;
    private final RangeTable ranges;
    /** Of each slot and container, the page that it allocates from. */
    private final long[][] current = new long[SLOTS_MAX][];

    public Allocator(PagePool pool, RangeTable ranges) {
        this.pool = pool;
        this.ranges = ranges;
    }

    /**
     * Allocates zeroed storage with a header, on {@code near}'s page where it fits.
     *
     * @param bytes the object's length, header included
     * @param near an offset in the same container, or 0
     * @return the reference of the new object; its lock, if it has one, is held by the slot
     * @throws ContainerFull if the container may not grow
     */
    public long allocate(TransactionSlot slot, Range range, int classNumber, long bytes, long near) {
        int granules = granules(bytes);
        if (bytes > LENGTH_MASK) {
            throw new dev.norn.sas.exception.SASException("an object of " + bytes + " bytes is too large: "
                    + LENGTH_MASK + " is the most");
        }
        int length = classNumber == CLASS_VALUE ? (int) bytes - VALUE_HEADER_BYTES : granules;
        if (granules > GRANULES) {
            return allocatePages(slot, range, classNumber, length, granules);
        }
        long reference = near == 0 ? 0 : fit(slot, range, range.pageOf(near), classNumber, length, granules);
        long[] pages = pagesOf(slot, range);
        if (reference == 0 && pages[range.id] != 0) {
            reference = fit(slot, range, pages[range.id] - 1, classNumber, length, granules);
        }
        for (int scanned = 0; reference == 0 && scanned < SCANNED_MAX; scanned++) {
            Long page = range.freed.poll();
            if (page == null) {
                break;
            }
            reference = fit(slot, range, page, classNumber, length, granules);
        }
        if (reference == 0) {
            long page = grow(slot, range, 1);
            if (page >= 0) {
                pages[range.id] = page + 1;
                reference = fit(slot, range, page, classNumber, length, granules);
            }
        }
        for (long page = 0; reference == 0 && page < range.pagesUsed(); page++) {
            reference = fit(slot, range, page, classNumber, length, granules);
            pages[range.id] = page + 1;
        }
        if (reference == 0) {
            throw full(range, bytes);
        }
        return reference;
    }

    private long[] pagesOf(TransactionSlot slot, Range range) {
        long[] pages = current[slot.index];
        if (pages == null || pages.length <= range.id) {
            pages = pages == null ? new long[range.id + 8] : java.util.Arrays.copyOf(pages, range.id + 8);
            current[slot.index] = pages;
        }
        return pages;
    }

    private ContainerFull full(Range range, long bytes) {
        return new ContainerFull("container " + range.name + " has no room for " + bytes + " bytes: all of its "
                + range.pagesMax + " pages of " + PAGE_BYTES + " bytes are in use");
    }

    /** Allocates on this page; 0 if it does not fit. */
    private long fit(TransactionSlot slot, Range range, long page, int classNumber, int length, int granules) {
        long descriptor = range.descriptor(page);
        // A page known from a container that was undone may not count yet.
        if (page >= range.pagesUsed() || lacks(descriptor, granules)
                || Memory.getInt(descriptor + DESCRIPTOR_SPAN) != 0) {
            return 0;
        }
        slot.reserve(CONTENT_BYTES);
        return Latch.hold(slot, descriptor + DESCRIPTOR_LATCH,
                () -> fitLatched(slot, range, page, classNumber, length, granules));
    }

    /**
     * Whether it is known that the page has no room for as many granules: somebody has looked for as many or fewer, and
     * nothing was freed there since.
     */
    private static boolean lacks(long descriptor, int granules) {
        int least = Memory.getInt(descriptor + DESCRIPTOR_LACKS);
        return least != 0 && granules >= least;
    }

    private static long fitLatched(TransactionSlot slot, Range range, long page, int classNumber, int length,
            int granules) {
        long descriptor = range.descriptor(page);
        int granule = range.isRetired(page) || Memory.getInt(descriptor + DESCRIPTOR_SPAN) != 0 ? -1
                : gap(range, page, granules);
        if (granule < 0) {
            return 0;
        }
        long offset = range.pageOffset(page) + (long) granule * GRANULE_BYTES;
        int generation = Memory.getInt(descriptor + DESCRIPTOR_GENERATION);
        place(slot, range, offset, header(generation, classNumber, length), granules);
        return reference(offset, generation);
    }

    /** Publishes the undo entry, and then makes the object: from the last store on, it is there. */
    private static void place(TransactionSlot slot, Range range, long offset, long header, int granules) {
        Memory.putLong(slot.append(ENTRY_ALLOCATION, offset, CONTENT_BYTES), header);
        slot.publish(CONTENT_BYTES);
        Memory.clear(offset, (long) granules * GRANULE_BYTES);
        if (classOf(header) != CLASS_VALUE) {
            Memory.putLong(offset + OBJECT_LOCK, LOCK_EXCLUSIVE | slot.bit());
        }
        Memory.putLong(offset, header);
        range.setStart(offset);
    }

    /** The first granule of a free range of this length in a page; -1 if there is none. */
    private static int gap(Range range, long page, int granules) {
        long descriptor = range.descriptor(page);
        int end = Memory.getInt(descriptor + DESCRIPTOR_FREE_END);
        if (end + granules <= GRANULES) {
            Memory.putInt(descriptor + DESCRIPTOR_FREE_END, end + granules);
            return end;
        }
        if (lacks(descriptor, granules)) {
            return -1;
        }
        int free = 0;
        for (int word = 0; word < 4; word++) {
            for (long starts = Memory.getLong(descriptor + word * 8L); starts != 0; starts &= starts - 1) {
                int start = word * 64 + Long.numberOfTrailingZeros(starts);
                if (start - free >= granules) {
                    return free;
                }
                free = start + granulesOf(Memory.getLong(range.pageOffset(page) + (long) start * GRANULE_BYTES));
            }
        }
        if (GRANULES - free < granules) {
            // Fewer than are lacked so far. Others look again when something is freed.
            Memory.putInt(descriptor + DESCRIPTOR_LACKS, granules);
            return -1;
        }
        Memory.putInt(descriptor + DESCRIPTOR_FREE_END, free + granules);
        return free;
    }

    /** Says, after a page came from a file, where its free end begins, and that nobody has looked for room there. */
    static void findEnd(Range range, long page) {
        long descriptor = range.descriptor(page);
        int end = 0;
        for (int word = 3; word >= 0 && end == 0; word--) {
            long starts = Memory.getLong(descriptor + word * 8L);
            if (starts != 0) {
                int start = word * 64 + 63 - Long.numberOfLeadingZeros(starts);
                end = start + granulesOf(Memory.getLong(range.pageOffset(page) + (long) start * GRANULE_BYTES));
            }
        }
        Memory.putLong(descriptor + DESCRIPTOR_FREE_END, end);
    }

    private long allocatePages(TransactionSlot slot, Range range, int classNumber, int length, int granules) {
        slot.reserve(CONTENT_BYTES);
        long reference = Latch.hold(slot, range.base + CONTAINER_GROW_LATCH,
                () -> allocatePagesLatched(slot, range, classNumber, length, granules));
        if (reference == 0) {
            throw full(range, (long) granules * GRANULE_BYTES);
        }
        return reference;
    }

    private long allocatePagesLatched(TransactionSlot slot, Range range, int classNumber, int length, int granules) {
        int pages = pages(granules);
        long first = growLatched(range, pages);
        if (first < 0) {
            first = findEmpty(range, pages);
        }
        if (first < 0) {
            return 0;
        }
        int generation = Memory.getInt(range.descriptor(first) + DESCRIPTOR_GENERATION);
        place(slot, range, range.pageOffset(first), header(generation, classNumber, length), granules);
        return reference(range.pageOffset(first), generation);
    }

    /**
     * Makes an object of zeros where another store of the same history has made it. Nothing is there.
     *
     * @param header its first word
     */
    public void allocateAt(TransactionSlot slot, Range range, long offset, long header) {
        int granules = granulesOf(header);
        slot.reserve(CONTENT_BYTES);
        long first = range.pageOf(offset);
        Latch.hold(slot, range.base + CONTAINER_GROW_LATCH, () -> growTo(range, first + pages(granules)));
        if (granules > GRANULES) {
            Latch.hold(slot, range.base + CONTAINER_GROW_LATCH, () -> {
                for (long page = first; page < first + pages(granules); page++) {
                    Memory.putInt(range.descriptor(page) + DESCRIPTOR_SPAN, SPAN_INTERIOR);
                }
                return placeAt(slot, range, offset, header, granules);
            });
        } else {
            Latch.hold(slot, range.descriptor(first) + DESCRIPTOR_LATCH,
                    () -> placeAt(slot, range, offset, header, granules));
        }
    }

    private long growTo(Range range, long pages) {
        while (range.pagesUsed() < pages) {
            if (growLatched(range, 1) < 0) {
                throw full(range, pages << PAGE_BITS);
            }
        }
        return pages;
    }

    private static long placeAt(TransactionSlot slot, Range range, long offset, long header, int granules) {
        long descriptor = range.descriptor(range.pageOf(offset));
        int end = Math.min(GRANULES, range.granuleOf(offset) + granules);
        Memory.putInt(descriptor + DESCRIPTOR_FREE_END,
                Math.max(Memory.getInt(descriptor + DESCRIPTOR_FREE_END), end));
        Memory.putInt(descriptor + DESCRIPTOR_GENERATION,
                Math.max(Memory.getInt(descriptor + DESCRIPTOR_GENERATION), generationOf(header)));
        place(slot, range, offset, header, granules);
        return offset;
    }

    private static int pages(int granules) {
        return (granules + GRANULES - 1) / GRANULES;
    }

    /**
     * Marks the entry of an allocation as done that a death or a failure cut off before its object was there. As soon
     * as the latch is free, others may get the place, and with it the generation that the entry names: to undo the
     * entry would free their object.
     */
    public void settleAllocation(TransactionSlot slot) {
        long entry = slot.newest();
        if (entry != 0 && TransactionSlot.kind(entry) == ENTRY_ALLOCATION
                && !ranges.isObject(reference(TransactionSlot.offset(entry),
                        generationOf(Memory.getLong(entry + ENTRY_HEADER_BYTES))))) {
            TransactionSlot.markDone(entry);
        }
    }

    /**
     * Marks the pages that large objects have, and no others, in a container where a death or a failure under the latch
     * of growing left marks without an object, or an object's page without its mark. Costs a visit to each page.
     */
    public static void settle(long base) {
        Range range = new Range(-1, "", base, Memory.getLong(base + CONTAINER_PAGES_MAX), true);
        long end = 0;
        for (long page = 0; page < Memory.getLong(base + CONTAINER_PAGES_BACKED); page++) {
            long offset = range.pageOffset(page);
            int granules = range.startsAt(offset) ? granulesOf(Memory.getLong(offset)) : 0;
            end = granules > GRANULES ? page + pages(granules) : end;
            int mark = page < end ? SPAN_INTERIOR : 0;
            if (Memory.getInt(range.descriptor(page) + DESCRIPTOR_SPAN) != mark) {
                Memory.putInt(range.descriptor(page) + DESCRIPTOR_SPAN, mark);
            }
        }
    }

    /** Takes the marks from all pages that a large object covered. */
    private static void clearMarks(Range range, long offset, int granules) {
        long first = range.pageOf(offset);
        for (long page = first; page < first + pages(granules); page++) {
            Memory.putLong(range.descriptor(page) + DESCRIPTOR_FREE_END, 0);
            Memory.putInt(range.descriptor(page) + DESCRIPTOR_SPAN, 0);
        }
    }

    /** Finds a run of empty pages and marks them, so that small allocations stay off. */
    private static long findEmpty(Range range, int pages) {
        long used = range.pagesUsed();
        int run = 0;
        for (long page = 0; page < used; page++) {
            run = isEmpty(range, page) ? run + 1 : 0;
            if (run == pages) {
                long first = page - pages + 1;
                if (claimEmpty(range, first, pages)) {
                    return first;
                }
                run = 0;
            }
        }
        return -1;
    }

    /** Marks the pages of a run one by one, and takes the marks back if one is no longer empty. */
    private static boolean claimEmpty(Range range, long first, int pages) {
        for (long page = first; page < first + pages; page++) {
            Memory.putInt(range.descriptor(page) + DESCRIPTOR_SPAN, SPAN_INTERIOR);
        }
        java.lang.invoke.VarHandle.fullFence();
        for (long page = first; page < first + pages; page++) {
            long descriptor = range.descriptor(page);
            boolean isTaken = Memory.getVolatile(descriptor + DESCRIPTOR_LATCH) != 0 || range.isRetired(page);
            for (int word = 0; word < 4; word++) {
                isTaken |= Memory.getVolatile(descriptor + word * 8L) != 0;
            }
            if (isTaken) {
                for (long back = first; back < first + pages; back++) {
                    Memory.putInt(range.descriptor(back) + DESCRIPTOR_SPAN, 0);
                }
                return false;
            }
        }
        return true;
    }

    private static boolean isEmpty(Range range, long page) {
        long descriptor = range.descriptor(page);
        return (Memory.getLong(descriptor) | Memory.getLong(descriptor + 8) | Memory.getLong(descriptor + 16)
                | Memory.getLong(descriptor + 24) | Memory.getInt(descriptor + DESCRIPTOR_SPAN)) == 0
                && !range.isRetired(page);
    }

    private long grow(TransactionSlot slot, Range range, int pages) {
        return Latch.hold(slot, range.base + CONTAINER_GROW_LATCH, () -> growLatched(range, pages));
    }

    /** Takes pages that were never used; -1 if there are fewer. Their storage is allocated before they count. */
    private long growLatched(Range range, int pages) {
        long used = range.pagesUsed();
        if (used + pages > range.pagesMax) {
            return -1;
        }
        long backed = Memory.getLong(range.base + CONTAINER_PAGES_BACKED);
        if (used + pages > backed) {
            long target = Math.min(range.pagesMax, Math.max(used + pages, backed + PAGES_BACKED));
            pool.back(range.pageOffset(backed), target - backed << PAGE_BITS);
            long from = range.descriptor(backed);
            pool.back(from, range.descriptor(target) - from);
            for (long page = backed; page < target; page++) {
                Memory.putInt(range.descriptor(page) + DESCRIPTOR_GENERATION, (int) Memory.getLong(FIRST_GENERATION));
            }
            Memory.putRelease(range.base + CONTAINER_PAGES_BACKED, target);
        }
        for (long page = used; pages > 1 && page < used + pages; page++) {
            // Pages of a large object are no others', from the moment that they count.
            Memory.putInt(range.descriptor(page) + DESCRIPTOR_SPAN, SPAN_INTERIOR);
        }
        Memory.putVolatile(range.base + CONTAINER_PAGES_USED, used + pages);
        return used;
    }

    /**
     * Gives an object's storage back, with a new generation for what comes after it, and marks the entry that asked for
     * it as done. Doing it twice is harmless, also when it was cut off in between, and another object has the place.
     */
    public void free(TransactionSlot slot, Range range, long entry) {
        long page = range.pageOf(TransactionSlot.offset(entry));
        boolean isLarge = granulesOf(Memory.getLong(entry + ENTRY_HEADER_BYTES)) > GRANULES;
        Latch.hold(slot, isLarge ? range.base + CONTAINER_GROW_LATCH : range.descriptor(page) + DESCRIPTOR_LATCH,
                () -> freeLatched(range, entry));
        if (!range.isRetired(page)) {
            range.freed.add(page);
        }
    }

    private static long freeLatched(Range range, long entry) {
        long offset = TransactionSlot.offset(entry);
        if (TransactionSlot.kind(entry) != 0) {
            int generation = generationOf(Memory.getLong(entry + ENTRY_HEADER_BYTES));
            if (range.startsAt(offset) && generationOf(Memory.getLong(offset)) == generation) {
                discard(range, offset);
            }
            TransactionSlot.markDone(entry);
        }
        return offset;
    }

    /** The same if no other slot uses the page. */
    public static void discard(Range range, long offset) {
        long descriptor = range.descriptor(range.pageOf(offset));
        long generation = descriptor + DESCRIPTOR_GENERATION;
        int granules = granulesOf(Memory.getLong(offset));
        // The generation comes first: a free that is cut off after this store and repeated skips one generation. The
        // other order could give one out twice.
        Memory.putInt(generation, Math.min(RETIRED, Memory.getInt(generation) + 1));
        Memory.putInt(descriptor + DESCRIPTOR_LACKS, 0);
        range.clearStart(offset);
        if (granules > GRANULES) {
            clearMarks(range, offset, granules);
        }
    }

    /**
     * A container whose making is undone. Its addresses will be given out again, with generations above those that its
     * objects had. Doing it twice is harmless.
     */
    public static void forsake(long base, long pagesMax) {
        Range range = new Range(-1, "", base, pagesMax, true);
        int highest = 0;
        for (long page = 0; page < range.pagesUsed(); page++) {
            highest = Math.max(highest, Memory.getInt(range.descriptor(page) + DESCRIPTOR_GENERATION));
        }
        // The directory has generation 0.
        long first = base == CONTAINERS ? 0 : Math.min(RETIRED, highest + 1);
        Memory.putLong(FIRST_GENERATION, Math.max(Memory.getLong(FIRST_GENERATION), first));
    }
}
