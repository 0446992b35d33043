package dev.norn.sas.store.log;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.heap.ContainerFile;
import dev.norn.sas.store.heap.DirectoryReader;
import dev.norn.sas.store.heap.Range;
import dev.norn.sas.store.memory.NativeFile;
import dev.norn.sas.store.memory.PagePool;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * Applies the operations of log records to the containers' files. Every operation says what is to be so afterwards, not
 * what to change, so applying it again gives the same.
 *
 * <pre>
 * operation: kind (8 bits) and length (56) | offset in the address space | content, padded to 8 bytes
 *   RANGE      the bytes at the offset
 *   ALLOCATION an object begins at the offset; its bytes, the lock as zeros
 *   FREE       no object is at the offset any more; its first word, which has the generation and the length
 *   CONTAINER  a container begins at the offset; number, pages, name
 * </pre>
 */
public final class Replay implements AutoCloseable {
    public static final int RANGE = 1;
    public static final int ALLOCATION = 2;
    public static final int FREE = 3;
    public static final int CONTAINER = 4;
    /** Pages kept before they are written. */
    private static final int PAGES_MAX = 16384;
    private static final long DAMAGED = -1;
    private static final int GROUP_BITS = 10;
    private static final int GROUP_PAGES = 1 << GROUP_BITS;

    private final PagePool pool;
    private final TreeMap<Long, File> files = new TreeMap<>();
    private final CRC32C crc = new CRC32C();
    /** What waits for a container's file. */
    private final Unapplied unapplied;
    private int pagesKept;
    private boolean checksPages;
    /** The file of the operation before. */
    private File last;

    public Replay(PagePool pool) throws IOException {
        this.pool = pool;
        try (var found = Files.newDirectoryStream(pool.directory, "*.container")) {
            for (Path path : found) {
                Range range = ContainerFile.readHeader(pool, path);
                if (range != null && range.base != 0 && range.isWritable) {
                    files.put(range.base, new File(range, path));
                }
            }
        }
        unapplied = new Unapplied(pool.directory, offset -> fileOf(offset) != null);
        try {
            unapplied.apply(this::apply);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    public static int operationBytes(int length) {
        return 16 + (length + 7 & ~7);
    }

    /** Begins an operation in a record; the content follows, then zeros up to a multiple of 8 bytes. */
    public static void begin(ByteBuffer record, int kind, long offset, int length) {
        record.putLong(kind | (long) length << 8).putLong(offset);
    }

    /**
     * From here on, pages that are read are compared with their checks; those that differ stay damaged, whatever is
     * applied to them. Before, they may be as a replay that was cut off has left them: then a page is not in accord
     * with its check, and it is unknown whether a bit has flipped, too.
     */
    void checkPages() {
        checksPages = true;
    }

    /**
     * Applies the operations from the buffer's position to its limit. Those of containers whose files are missing are
     * set aside.
     */
    void apply(ByteBuffer operations) throws IOException {
        while (operations.hasRemaining()) {
            int start = operations.position();
            long word = operations.getLong();
            long offset = operations.getLong();
            int length = (int) (word >>> 8);
            int content = operations.position();
            operations.position(content + (length + 7 & ~7));
            if ((word & 0xFF) == CONTAINER) {
                addContainer(offset, operations.slice(content, length).order(ByteOrder.LITTLE_ENDIAN));
                continue;
            }
            File file = fileOf(offset);
            if (file != null) {
                file.apply((int) (word & 0xFF), offset, operations, content, length);
            } else {
                unapplied.add(operations, start, operations.position() - start);
            }
        }
        unapplied.endRecord();
        if (pagesKept > PAGES_MAX) {
            flush();
        }
    }

    /** The file of the container at this offset; null if it is missing. */
    private File fileOf(long offset) {
        if (last != null && last.range.contains(offset)) {
            return last;
        }
        var entry = files.floorEntry(offset);
        if (entry == null || !entry.getValue().range.contains(offset)) {
            DirectoryReader.requireOther(pool.directory, offset);
            return null;
        }
        last = entry.getValue();
        return last;
    }

    private void addContainer(long base, ByteBuffer content) throws IOException {
        int id = content.getInt();
        long pages = content.getLong();
        byte[] name = new byte[content.remaining()];
        content.get(name);
        if (!files.containsKey(base)) {
            Range range = new Range(id, new String(name, java.nio.charset.StandardCharsets.UTF_8), base, pages, true);
            files.put(base, new File(range, ContainerFile.create(pool, range)));
        }
    }

    private void flush() throws IOException {
        for (File file : files.values()) {
            file.flush();
        }
        pagesKept = 0;
    }

    /** Writes and syncs all that was applied. */
    void finish() throws IOException {
        flush();
        for (File file : files.values()) {
            file.sync();
        }
        unapplied.finish();
    }

    @Override
    public void close() throws IOException {
        for (File file : files.values()) {
            file.close();
        }
        unapplied.close();
    }

    /** A container's file and the pages of it that were changed, by their index in the file. */
    private final class File {
        final Range range;
        private final Path path;
        private FileChannel channel;
        /** Pages that differ from what was written. */
        private final BitSet damaged = new BitSet();
        /** Whether its length is durable: a replay that was cut off may have made it longer a moment ago. */
        private boolean isLengthDurable;
        /** By the index's upper and lower bits; null where none is kept. */
        private final ByteBuffer[][] pages;

        File(Range range, Path path) {
            this.range = range;
            this.path = path;
            pages = new ByteBuffer[(int) (Range.span(range.pagesMax) / PAGE_BYTES >> GROUP_BITS) + 1][];
        }

        private ByteBuffer page(long index) throws IOException {
            ByteBuffer[] group = pages[(int) (index >> GROUP_BITS)];
            ByteBuffer page = group == null ? null : group[(int) index & GROUP_PAGES - 1];
            return page != null ? page : read(index);
        }

        private ByteBuffer read(long index) throws IOException {
            if (channel == null) {
                channel = NativeFile.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
            }
            ByteBuffer page = ByteBuffer.allocate(PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            while (page.hasRemaining() && channel.read(page, index * PAGE_BYTES + page.position()) > 0) {
                // Until the page is full or the file ends.
            }
            int group = (int) (index >> GROUP_BITS);
            if (pages[group] == null) {
                pages[group] = new ByteBuffer[GROUP_PAGES];
            }
            pages[group][(int) index & GROUP_PAGES - 1] = page;
            pagesKept++;
            if (checksPages) {
                check(index, page);
            }
            return page;
        }

        /** Compares a page of descriptors, or of objects, with the checks that it has in the file. */
        private void check(long index, ByteBuffer page) throws IOException {
            long firstDescriptors = (range.descriptor(0) - range.base) / PAGE_BYTES;
            long firstPage = (range.pageOffset(0) - range.base) / PAGE_BYTES;
            if (index < firstPage) {
                for (int at = 0; at < PAGE_BYTES && index >= firstDescriptors; at += (int) DESCRIPTOR_BYTES) {
                    if (!ContainerFile.isDescriptor(crc, page, at)) {
                        damage(((index - firstDescriptors) * PAGE_BYTES + at) / DESCRIPTOR_BYTES);
                    }
                }
            } else if (!ContainerFile.isPage(crc, page, descriptorCheck(index - firstPage))) {
                damage(index - firstPage);
            }
        }

        private long descriptorCheck(long page) throws IOException {
            long descriptor = range.descriptor(page) - range.base;
            return page(descriptor / PAGE_BYTES).getLong((int) (descriptor % PAGE_BYTES + DESCRIPTOR_PAGE_CHECK));
        }

        private void damage(long page) {
            damaged.set((int) page);
            ContainerFile.say("sas: page " + page + " of " + path + " is damaged: committed changes are applied to "
                    + "it, but it stays damaged");
        }

        void apply(int kind, long offset, ByteBuffer from, int content, int length) throws IOException {
            switch (kind) {
                case RANGE -> write(offset, from, content, length);
                case ALLOCATION -> {
                    write(offset, from, content, length);
                    mark(offset, from.getLong(content), 1);
                }
                case FREE -> mark(offset, from.getLong(content), 0);
                default -> throw new dev.norn.sas.exception.StorageReadFailure("the log of " + pool.directory
                        + " has an operation of unknown kind " + kind);
            }
        }

        private void write(long offset, ByteBuffer from, int content, int length) throws IOException {
            int done = 0;
            while (done < length) {
                long at = offset + done - range.base;
                int inPage = (int) (at % PAGE_BYTES);
                int step = Math.min(PAGE_BYTES - inPage, length - done);
                page(at / PAGE_BYTES).put(inPage, from, content + done, step);
                done += step;
            }
        }

        /**
         * Sets or clears where an object starts, the pages that it covers if it is large, and the generation that
         * follows.
         */
        private void mark(long offset, long header, int start) throws IOException {
            long page = range.pageOf(offset);
            int granule = range.granuleOf(offset);
            long descriptor = range.descriptor(page) - range.base;
            ByteBuffer in = page(descriptor / PAGE_BYTES);
            int at = (int) (descriptor % PAGE_BYTES);
            int word = at + (granule >> 6) * 8;
            in.putLong(word, in.getLong(word) & ~(1L << granule) | (long) start << granule);
            int generation = in.getInt(at + (int) DESCRIPTOR_GENERATION);
            in.putInt(at + (int) DESCRIPTOR_GENERATION, Math.max(generation, generationOf(header) + 1 - start));
            int granules = granulesOf(header);
            for (long covered = page; granules > GRANULES && covered <= page + (granules - 1) / GRANULES; covered++) {
                long its = range.descriptor(covered) - range.base;
                page(its / PAGE_BYTES).putInt((int) (its % PAGE_BYTES + DESCRIPTOR_SPAN), start * SPAN_INTERIOR);
                page((range.pageOffset(covered) - range.base) / PAGE_BYTES);
            }
            page((range.pageOffset(page) - range.base) / PAGE_BYTES);
        }

        void flush() throws IOException {
            long firstPage = (range.pageOffset(0) - range.base) / PAGE_BYTES;
            // Sums of pages go into their descriptors, which are on pages before them.
            for (int group = pages.length - 1; group >= 0; group--) {
                for (int i = GROUP_PAGES - 1; i >= 0 && pages[group] != null; i--) {
                    long index = (long) group << GROUP_BITS | i;
                    if (pages[group][i] != null && index >= firstPage) {
                        sum(index - firstPage, pages[group][i]);
                    }
                }
            }
            if (channel == null) {
                return;
            }
            // A descriptor never names objects after the file's end. A descriptor that does is that of a file which was
            // cut off.
            long size = channel.size();
            write(firstPage, Long.MAX_VALUE);
            if (!isLengthDurable || channel.size() != size) {
                channel.force(true);
                isLengthDurable = true;
            }
            write(0, firstPage);
            java.util.Arrays.fill(pages, null);
        }

        /** Writes the pages with an index from {@code first} on and below {@code end}. */
        private void write(long first, long end) throws IOException {
            for (int group = 0; group < pages.length; group++) {
                for (int i = 0; i < GROUP_PAGES && pages[group] != null; i++) {
                    long index = (long) group << GROUP_BITS | i;
                    if (pages[group][i] != null && index >= first && index < end) {
                        write(index * PAGE_BYTES, pages[group][i].clear());
                    }
                }
            }
        }

        private void sum(long page, ByteBuffer content) throws IOException {
            long descriptor = range.descriptor(page) - range.base;
            ByteBuffer in = page(descriptor / PAGE_BYTES);
            int at = (int) (descriptor % PAGE_BYTES);
            // A damaged page gets a check that no page can have.
            in.putLong(at + (int) DESCRIPTOR_PAGE_CHECK,
                    damaged.get((int) page) ? DAMAGED : ContainerFile.check(crc, content.array(), 0, PAGE_BYTES));
            in.putLong(at + (int) DESCRIPTOR_LATCH, 0);
            in.putLong(at + (int) DESCRIPTOR_CHECK, ContainerFile.check(crc, in.array(), at, (int) DESCRIPTOR_CHECK));
        }

        private void write(long at, ByteBuffer page) throws IOException {
            while (page.hasRemaining()) {
                at += channel.write(page, at);
            }
        }

        void sync() throws IOException {
            if (channel != null) {
                channel.force(false);
            }
        }

        void close() throws IOException {
            if (channel != null) {
                channel.close();
            }
        }
    }
}
