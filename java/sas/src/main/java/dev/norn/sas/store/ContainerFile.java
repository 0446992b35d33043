package dev.norn.sas.store;

import static dev.norn.sas.store.Format.*;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/** The durable form of a container: the bytes of its range up to its last page, with a check of each page and of each descriptor. */
final class ContainerFile {
    private static final int HEADER_BYTES = 512;

    private static final java.util.Set<String> SAID = java.util.concurrent.ConcurrentHashMap.newKeySet();

    private ContainerFile() {}

    /** Says it on standard error, once. */
    private static void say(String message) {
        if (SAID.add(message)) {
            System.err.println(message);
        }
    }

    /** A check that is never 0, which is what a page that was never written has. */
    static long check(CRC32C crc, byte[] bytes, int start, int length) {
        crc.reset();
        crc.update(bytes, start, length);
        return crc.getValue() | 1L << 32;
    }

    /** Syncs a file or directory. */
    static void sync(Path path) throws IOException {
        try (var channel = NativeFile.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Makes an empty container's file: whole, or not at all. */
    static Path create(Pool pool, Range range) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        header.putLong((int) CONTAINER_MAGIC, MAGIC).putLong((int) CONTAINER_ID, range.id).putLong((int) CONTAINER_PAGES_MAX, range.pagesMax);
        header.putLong((int) CONTAINER_STORE_HIGH, pool.settings.store().getMostSignificantBits());
        header.putLong((int) CONTAINER_STORE_LOW, pool.settings.store().getLeastSignificantBits());
        header.putLong((int) CONTAINER_PAGES_USED, range.base);
        header.putLong((int) CONTAINER_HEADER_CHECK, headerCheck(header));
        Path path = pool.directory.resolve(range.name + ".container");
        Path fresh = pool.directory.resolve(range.name + ".container.new");
        try (var file = NativeFile.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            file.write(header, 0);
            file.force(true);
        }
        Files.move(fresh, path, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        sync(pool.directory);
        return path;
    }

    private static long headerCheck(ByteBuffer header) {
        byte[] bytes = header.array().clone();
        ByteBuffer.wrap(bytes).putLong((int) CONTAINER_HEADER_CHECK, 0);
        return check(new CRC32C(), bytes, 0, HEADER_BYTES);
    }

    /** What the file's header says of the container; null, with a message on standard error, if the file is damaged or of another store. */
    static Range readHeader(Pool pool, Path path) throws IOException {
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
            say("sas: the header of " + path + " is damaged, or of another store: the container is left out");
            return null;
        }
        String name = path.getFileName().toString().replaceAll("\\.container$", "");
        Range range = new Range((int) header.getLong((int) CONTAINER_ID), name, header.getLong((int) CONTAINER_PAGES_USED),
                header.getLong((int) CONTAINER_PAGES_MAX), Files.isWritable(path));
        if (isCutOff(range, path)) {
            say("sas: " + path + " was cut off: the container is left out");
            return null;
        }
        return range;
    }

    /** Whether the file ends before pages of which its descriptors say that they have objects. Costs reading a page or two. */
    private static boolean isCutOff(Range range, Path path) throws IOException {
        try (var file = NativeFile.open(path, StandardOpenOption.READ)) {
            if (file.size() == HEADER_BYTES) {
                return false;
            }
            long pages = (file.size() - (range.pageOffset(0) - range.base)) >> PAGE_BITS;
            int inGroup = (int) (PAGE_BYTES / DESCRIPTOR_BYTES);
            for (long page = Math.max(0, pages); page < range.pagesMax; page += inGroup - page % inGroup) {
                ByteBuffer group = read(file, (1 + page / inGroup) * PAGE_BYTES);
                if (group.position() < PAGE_BYTES) {
                    return true;
                }
                boolean isBlank = true;
                for (int at = (int) (page % inGroup * DESCRIPTOR_BYTES); at < PAGE_BYTES; at += 8) {
                    isBlank &= group.getLong(at) == 0;
                }
                if (isBlank) {
                    return false;
                }
                if (hasStarts(group, (int) (page % inGroup))) {
                    return true;
                }
            }
            return false;
        } catch (FileSystemException e) {
            say("sas: " + path + " cannot be read: " + e.getMessage());
            return true;
        }
    }

    private static boolean hasStarts(ByteBuffer descriptors, int first) {
        for (int at = first * (int) DESCRIPTOR_BYTES; at < PAGE_BYTES; at += (int) DESCRIPTOR_BYTES) {
            if ((descriptors.getLong(at) | descriptors.getLong(at + 8) | descriptors.getLong(at + 16) | descriptors.getLong(at + 24)) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Copies the file into the pool and checks each page of it. A page that fails, or cannot be read, makes the container damaged, and only it. */
    static void load(Pool pool, Range range, FileChannel poolFile) throws IOException {
        Path path = pool.directory.resolve(range.name + ".container");
        pool.back(range.base, PAGE_BYTES);
        range.format();
        CRC32C crc = new CRC32C();
        try (var file = NativeFile.open(path, StandardOpenOption.READ)) {
            long fileBytes = file.size();
            // The file ends behind the last page that was ever written; what lies between descriptors and pages is a hole. A new container's has its header only.
            boolean isNew = fileBytes == HEADER_BYTES;
            long used = 0;
            long descriptorPages = (range.pageOffset(0) - range.base) / PAGE_BYTES - 1;
            for (long index = 1, end = 0; !isNew && index <= descriptorPages && used == end; index++) {
                used = Math.max(used, loadDescriptors(range, file, poolFile, index, crc));
                end = index * PAGE_BYTES / DESCRIPTOR_BYTES;
            }
            Memory.putLong(range.base + CONTAINER_PAGES_USED, used);
            Memory.putLong(range.base + CONTAINER_PAGES_BACKED, used);
            for (long page = 0; page < used; page++) {
                loadPage(range, file, poolFile, page, crc);
            }
        } catch (FileSystemException e) {
            say("sas: " + path + " cannot be read: " + e.getMessage());
            range.miss();
        }
    }

    /** Writes the container from the pool, where no object is locked and nothing changes meanwhile, over its file, and syncs it. */
    static void save(Pool pool, Range range) throws IOException {
        CRC32C crc = new CRC32C();
        long pages = range.pagesUsed();
        try (var file = NativeFile.open(pool.directory.resolve(range.name + ".container"), StandardOpenOption.WRITE)) {
            int inGroup = (int) (PAGE_BYTES / DESCRIPTOR_BYTES);
            for (long first = 0; first < pages; first += inGroup) {
                ByteBuffer descriptors = ByteBuffer.allocate(PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
                for (long page = first; page < Math.min(pages, first + inGroup); page++) {
                    byte[] content = Memory.bytes(range.pageOffset(page), PAGE_BYTES);
                    write(file, ByteBuffer.wrap(content), range.pageOffset(page) - range.base);
                    int at = (int) ((page - first) * DESCRIPTOR_BYTES);
                    descriptors.put(at, Memory.bytes(range.descriptor(page), (int) DESCRIPTOR_BYTES));
                    descriptors.putLong(at + (int) DESCRIPTOR_LATCH, 0).putLong(at + (int) DESCRIPTOR_PAGE_CHECK, check(crc, content, 0, PAGE_BYTES));
                    descriptors.putLong(at + (int) DESCRIPTOR_CHECK, check(crc, descriptors.array(), at, (int) DESCRIPTOR_CHECK));
                }
                write(file, descriptors, range.descriptor(first) - range.base);
            }
            file.force(true);
        }
    }

    private static void write(FileChannel file, ByteBuffer bytes, long at) throws IOException {
        while (bytes.hasRemaining()) {
            at += file.write(bytes, at);
        }
    }

    /** A container that the directory has, but whose file cannot be trusted at all. */
    static void loadNothing(Pool pool, Range range) {
        pool.back(range.base, PAGE_BYTES);
        range.format();
        range.miss();
    }

    /** Loads a page of descriptors; returns the number of pages up to the last that is in use. */
    private static long loadDescriptors(Range range, FileChannel file, FileChannel poolFile, long index, CRC32C crc) throws IOException {
        ByteBuffer bytes = read(file, index * PAGE_BYTES);
        long first = (index - 1) * PAGE_BYTES / DESCRIPTOR_BYTES;
        long used = 0;
        for (int at = 0; at < PAGE_BYTES; at += (int) DESCRIPTOR_BYTES) {
            long stored = bytes.getLong(at + (int) DESCRIPTOR_CHECK);
            boolean isBlank = stored == 0 && bytes.slice(at, (int) DESCRIPTOR_BYTES).equals(ByteBuffer.allocate((int) DESCRIPTOR_BYTES));
            if (!isBlank) {
                used = first + at / DESCRIPTOR_BYTES + 1;
                if (stored != check(crc, bytes.array(), at, (int) DESCRIPTOR_CHECK)) {
                    range.damage(used - 1);
                }
            }
        }
        if (used > 0) {
            poolFile.write(bytes.clear(), range.base + index * PAGE_BYTES);
        }
        return used;
    }

    private static void loadPage(Range range, FileChannel file, FileChannel poolFile, long page, CRC32C crc) throws IOException {
        ByteBuffer bytes = read(file, range.pageOffset(page) - range.base);
        long descriptor = range.descriptor(page);
        long stored = Memory.getLong(descriptor + DESCRIPTOR_PAGE_CHECK);
        if (stored != 0 && stored != check(crc, bytes.array(), 0, PAGE_BYTES)) {
            range.damage(page);
        }
        poolFile.write(bytes.clear(), range.pageOffset(page));
        Heap.findEnd(range, page);
    }

    private static ByteBuffer read(FileChannel file, long at) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try {
            while (bytes.hasRemaining() && file.read(bytes, at + bytes.position()) > 0) {
                // Until the page is full or the file ends.
            }
        } catch (IOException e) {
            throw new FileSystemException("the page at " + at, null, e.getMessage());
        }
        return bytes;
    }
}
