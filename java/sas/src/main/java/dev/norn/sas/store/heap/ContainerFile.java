package dev.norn.sas.store.heap;

import static dev.norn.sas.store.memory.Format.*;

import dev.norn.sas.store.memory.Memory;
import dev.norn.sas.store.memory.NativeFile;
import dev.norn.sas.store.memory.PagePool;
import dev.norn.sas.store.memory.StoreFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The durable form of a container: the bytes of its range up to its last page, with a check of each page and of each
 * descriptor.
 */
public final class ContainerFile {
    private static final int HEADER_BYTES = 512;
    private static final ByteBuffer ZEROS = ByteBuffer.allocate(1 << 16).asReadOnlyBuffer();

    private static final java.util.Set<String> SAID = java.util.concurrent.ConcurrentHashMap.newKeySet();

    private ContainerFile() {}

    /** Says it on standard error, once. */
    public static void say(String message) {
        if (SAID.add(message)) {
            System.err.println(message);
        }
    }

    /** A check that is never 0, which is what a page that was never written has. */
    public static long check(CRC32C crc, byte[] bytes, int start, int length) {
        crc.reset();
        crc.update(bytes, start, length);
        return crc.getValue() | 1L << 32;
    }

    /** Makes an empty container's file: whole, or not at all. */
    public static Path create(PagePool pool, Range range) throws IOException {
        Path path = pool.directory.resolve(range.name + ".container");
        Path fresh = pool.directory.resolve(range.name + ".container.new");
        try (var file = NativeFile.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            file.write(header(pool, range), 0);
            file.force(true);
        }
        Files.move(fresh, path, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        StoreFiles.sync(pool.directory);
        return path;
    }

    private static ByteBuffer header(PagePool pool, Range range) {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong((int) CONTAINER_MAGIC, MAGIC).putLong((int) CONTAINER_ID, range.id)
                .putLong((int) CONTAINER_PAGES_MAX, range.pagesMax);
        header.putLong((int) CONTAINER_STORE_HIGH, pool.settings.store().getMostSignificantBits());
        header.putLong((int) CONTAINER_STORE_LOW, pool.settings.store().getLeastSignificantBits());
        header.putLong((int) CONTAINER_PAGES_USED, range.base);
        header.putLong((int) CONTAINER_HEADER_CHECK, headerCheck(header));
        return header;
    }

    private static long headerCheck(ByteBuffer header) {
        byte[] bytes = header.array().clone();
        ByteBuffer.wrap(bytes).putLong((int) CONTAINER_HEADER_CHECK, 0);
        return check(new CRC32C(), bytes, 0, HEADER_BYTES);
    }

    /**
     * What the file's header says of the container; null, with a message on standard error, if the file is damaged or
     * of another store.
     */
    public static Range readHeader(PagePool pool, Path path) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (var file = NativeFile.open(path, StandardOpenOption.READ)) {
            file.read(header, 0);
        } catch (IOException e) {
            say("sas: " + path + " cannot be read: " + e.getMessage());
        }
        if (header.hasRemaining() || header.getLong((int) CONTAINER_MAGIC) != MAGIC
                || header.getLong((int) CONTAINER_HEADER_CHECK) != headerCheck(header)
                || header.getLong((int) CONTAINER_STORE_HIGH) != pool.settings.store().getMostSignificantBits()
                || header.getLong((int) CONTAINER_STORE_LOW) != pool.settings.store().getLeastSignificantBits()) {
            say("sas: the header of " + path + " is damaged, or of another store: the container is not loaded");
            return null;
        }
        String name = path.getFileName().toString().replaceAll("\\.container$", "");
        Range range = new Range((int) header.getLong((int) CONTAINER_ID), name,
                header.getLong((int) CONTAINER_PAGES_USED), header.getLong((int) CONTAINER_PAGES_MAX),
                Files.isWritable(path));
        if (isCutOff(range, path)) {
            say("sas: " + path + " was cut off, or a descriptor of a page after its end is damaged: the container "
                    + "is not loaded");
            return null;
        }
        return range;
    }

    /**
     * Whether the file ends before a page that it had: one whose descriptor was written. Costs reading the descriptors
     * of all pages after the end that are no hole.
     */
    private static boolean isCutOff(Range range, Path path) throws IOException {
        try (var file = NativeFile.open(path, StandardOpenOption.READ)) {
            long size = file.size();
            long first = range.pageOffset(0) - range.base;
            if (size < first) {
                return size != HEADER_BYTES;
            }
            long wholePages = Math.min(size - first >> PAGE_BITS, range.pagesMax);
            ByteBuffer chunk = ByteBuffer.allocate(ZEROS.capacity());
            for (long at = file.nextData(range.descriptor(wholePages) - range.base); at < first;
                    at = file.nextData(at)) {
                int length =
                        StoreFiles.read(file, chunk.clear().limit((int) Math.min(chunk.capacity(), first - at)), at);
                if (length == 0 || !isBlank(chunk.flip())) {
                    return true;
                }
                at += length;
            }
            return false;
        } catch (FileSystemException e) {
            say("sas: " + path + " cannot be read: " + e.getMessage());
            return true;
        }
    }

    private static boolean isBlank(ByteBuffer bytes) {
        return bytes.equals(ZEROS.slice(0, bytes.remaining()));
    }

    /**
     * Copies the file into the pool and checks each page of it. A page that fails, or cannot be read, makes the
     * container damaged, and only it.
     */
    public static void load(PagePool pool, Range range, FileChannel poolFile) throws IOException {
        Path path = pool.directory.resolve(range.name + ".container");
        pool.back(range.base, PAGE_BYTES);
        range.format();
        CRC32C crc = new CRC32C();
        try (var file = NativeFile.open(path, StandardOpenOption.READ)) {
            // The file's length says how many pages there are. A blank descriptor says nothing about the others: only
            // undone transactions used its page.
            long pages = Math.clamp(file.size() - (range.pageOffset(0) - range.base) + PAGE_BYTES - 1 >> PAGE_BITS,
                    0, range.pagesMax);
            for (long first = 0; first < pages; first += PAGE_BYTES / DESCRIPTOR_BYTES) {
                loadDescriptors(range, file, poolFile, first, crc);
            }
            Memory.putLong(range.base + CONTAINER_PAGES_USED, pages);
            Memory.putLong(range.base + CONTAINER_PAGES_BACKED, pages);
            for (long page = 0; page < pages; page++) {
                loadPage(range, file, poolFile, page, crc);
            }
        } catch (FileSystemException e) {
            say("sas: " + path + " cannot be read: " + e.getMessage());
            range.miss();
        }
    }

    /** Writes all containers' files from the pool, where no transaction is open: all of them, or none. */
    public static void saveAll(PagePool pool, List<Range> ranges) throws IOException {
        for (Range range : ranges) {
            Path fresh = pool.directory.resolve(range.name + ".container.new");
            Files.deleteIfExists(fresh);
            save(pool, range, fresh);
        }
        // What waits for a file is in the pool.
        Files.deleteIfExists(pool.directory.resolve(StoreFiles.UNAPPLIED));
        for (Range range : ranges) {
            Files.move(pool.directory.resolve(range.name + ".container.new"),
                    pool.directory.resolve(range.name + ".container"), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        }
        StoreFiles.sync(pool.directory);
    }

    /**
     * Writes the container from the pool, where no object is locked and nothing changes meanwhile, to a file, or over
     * one of its own, and syncs it.
     */
    public static void save(PagePool pool, Range range, Path path) throws IOException {
        CRC32C crc = new CRC32C();
        long pages = range.pagesUsed();
        try (var file = NativeFile.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            StoreFiles.write(file, header(pool, range), 0);
            int inGroup = (int) (PAGE_BYTES / DESCRIPTOR_BYTES);
            for (long first = 0; first < pages; first += inGroup) {
                ByteBuffer descriptors = ByteBuffer.allocate(PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
                for (long page = first; page < Math.min(pages, first + inGroup); page++) {
                    byte[] content = unlocked(range, page);
                    StoreFiles.write(file, ByteBuffer.wrap(content), range.pageOffset(page) - range.base);
                    int at = (int) ((page - first) * DESCRIPTOR_BYTES);
                    descriptors.put(at, Memory.bytes(range.descriptor(page), (int) DESCRIPTOR_BYTES));
                    descriptors.putLong(at + (int) DESCRIPTOR_LATCH, 0)
                            .putLong(at + (int) DESCRIPTOR_PAGE_CHECK, check(crc, content, 0, PAGE_BYTES));
                    descriptors.putLong(at + (int) DESCRIPTOR_CHECK,
                            check(crc, descriptors.array(), at, (int) DESCRIPTOR_CHECK));
                }
                StoreFiles.write(file, descriptors, range.descriptor(first) - range.base);
            }
            file.force(true);
        }
    }

    /** A page's bytes, with the locks of its objects as they are in files. */
    private static byte[] unlocked(Range range, long page) {
        long start = range.pageOffset(page);
        byte[] content = Memory.bytes(start, PAGE_BYTES);
        for (long offset = start; offset < start + PAGE_BYTES; offset += GRANULE_BYTES) {
            if (range.startsAt(offset) && classOf(Memory.getLong(offset)) != CLASS_VALUE) {
                ByteBuffer.wrap(content).putLong((int) (offset - start + OBJECT_LOCK), 0);
            }
        }
        return content;
    }

    /** A container that the directory has, but whose file cannot be trusted at all. */
    public static void loadNothing(PagePool pool, Range range) {
        pool.back(range.base, PAGE_BYTES);
        range.format();
        range.miss();
    }

    /** Loads a page of descriptors, from the one of page {@code first} on. */
    private static void loadDescriptors(Range range, FileChannel file, FileChannel poolFile, long first, CRC32C crc)
            throws IOException {
        ByteBuffer bytes = readPage(file, range.descriptor(first) - range.base);
        for (int at = 0; at < PAGE_BYTES; at += (int) DESCRIPTOR_BYTES) {
            if (!isDescriptor(crc, bytes, at)) {
                range.damage(first + at / DESCRIPTOR_BYTES);
            }
        }
        poolFile.write(bytes.clear(), range.descriptor(first));
    }

    /** Whether a descriptor is as it was written, or was never. */
    public static boolean isDescriptor(CRC32C crc, ByteBuffer bytes, int at) {
        return bytes.getLong(at + (int) DESCRIPTOR_CHECK) == check(crc, bytes.array(), at, (int) DESCRIPTOR_CHECK)
                || isBlank(bytes.slice(at, (int) DESCRIPTOR_BYTES));
    }

    /**
     * Whether a page is as it was written: one that never was is a hole; one with a content has lost its descriptor.
     */
    public static boolean isPage(CRC32C crc, ByteBuffer bytes, long check) {
        return check == 0 ? isBlank(bytes.duplicate().clear()) : check == check(crc, bytes.array(), 0, PAGE_BYTES);
    }

    private static void loadPage(Range range, FileChannel file, FileChannel poolFile, long page, CRC32C crc)
            throws IOException {
        ByteBuffer bytes = readPage(file, range.pageOffset(page) - range.base);
        long stored = Memory.getLong(range.descriptor(page) + DESCRIPTOR_PAGE_CHECK);
        if (!isPage(crc, bytes, stored)) {
            range.damage(page);
        }
        poolFile.write(bytes.clear(), range.pageOffset(page));
        Allocator.findEnd(range, page);
    }

    private static ByteBuffer readPage(FileChannel file, long at) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        StoreFiles.read(file, bytes, at);
        return bytes;
    }
}
