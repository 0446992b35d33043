package dev.norn.sas.store.log;

import static dev.norn.sas.store.memory.Format.MAGIC;

import dev.norn.sas.store.memory.NativeFile;
import dev.norn.sas.store.memory.StoreFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * The file of the redo log: two headers, of which the newer valid one counts, and then a ring of bytes. A position in
 * the log is a number of bytes that never starts anew; its place in the ring is what remains of it by the ring's
 * length, which the header names.
 */
public final class LogFile implements AutoCloseable {
    public static final String NAME = StoreFiles.LOG;
    static final int HEADER_BYTES = 4096;
    /** Positions, records and the ring are multiples of this. */
    static final int WORD_BYTES = 8;
    static final long VERSION = 3;
    /** The version whose records do not say what was synced, and whose header has no identity. */
    static final long VERSION_WITHOUT_SYNCED = 2;
    /** How the names of logs begin that were damaged, and are kept. */
    static final String LOST = "redo.lost-";
    private static final int HEADER_PLACES = 2;
    private static final int HEADER_DISTANCE = HEADER_BYTES / HEADER_PLACES;
    private static final byte[] ZEROS = new byte[1 << 16];

    /**
     * @param version of the header and the records
     * @param beginning the position of the first record that is not in the containers' files
     * @param ring the ring's length in bytes
     * @param identity what the store's properties call the log; a log of before has none
     * @param applied the position up to which the containers' files may have records, in part, because a replay is in
     *     progress
     */
    record Header(long version, long beginning, long ring, UUID identity, long applied) {
        private static final int OLD_CHECKED_BYTES = 32;
        private static final int CHECKED_BYTES = 56;
        private static final int BYTES = CHECKED_BYTES + WORD_BYTES;

        /** Of a new log, with about this file length. */
        static Header fresh(long beginning, long fileBytes) {
            long ring = Math.max(fileBytes - HEADER_BYTES, ZEROS.length) / WORD_BYTES * WORD_BYTES;
            return new Header(VERSION, beginning, ring, UUID.randomUUID(), beginning);
        }

        /** The same log with another beginning. */
        Header from(long position) {
            return from(position, ring);
        }

        /** The same log with another beginning and length. */
        Header from(long position, long longer) {
            return new Header(version, position, longer, identity, position);
        }

        /** The same log, of which a replay up to a position begins. */
        Header applying(long position) {
            return new Header(version, beginning, ring, identity, position);
        }

        /**
         * The position up to which a replay that was cut off may have applied records in part; {@link Long#MAX_VALUE}
         * if that is unknown.
         */
        long halfApplied() {
            return version == VERSION ? applied : Long.MAX_VALUE;
        }

        private boolean isNewerThan(Header other) {
            return other == null || beginning > other.beginning || beginning == other.beginning
                    && applied > other.applied;
        }

        /** A position after every position that a record may have. */
        long end() {
            return beginning + ring;
        }

        private ByteBuffer encode() {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putLong(MAGIC).putLong(version).putLong(beginning).putLong(ring);
            bytes.putLong(identity.getMostSignificantBits()).putLong(identity.getLeastSignificantBits());
            bytes.putLong(applied);
            return bytes.putLong(check(bytes.array(), 0, CHECKED_BYTES)).flip();
        }

        /** The header in these bytes; null if it is not valid. */
        private static Header decode(ByteBuffer bytes) {
            long version = bytes.getLong(8);
            int checked = version == VERSION ? CHECKED_BYTES : OLD_CHECKED_BYTES;
            if (bytes.getLong(0) != MAGIC || version != VERSION && version != VERSION_WITHOUT_SYNCED
                    || bytes.getLong(checked) != check(bytes.array(), 0, checked)) {
                return null;
            }
            long beginning = bytes.getLong(16);
            long ring = bytes.getLong(24);
            return version == VERSION ? new Header(version, beginning, ring,
                    new UUID(bytes.getLong(32), bytes.getLong(40)), bytes.getLong(48))
                    : new Header(version, beginning, ring, null, beginning);
        }
    }

    final Path path;
    private FileChannel channel;
    /** What the system calls the file. */
    private Object identity;

    public LogFile(Path path) {
        this.path = path;
    }

    /**
     * Makes the file, in the place of one that is there: whole, or not at all. It is full of zeros, so that later syncs
     * need not write where it is.
     *
     * @throws FileSystemException if the disk has no room for it, before anything is written
     */
    static void create(Path path, Header header) throws IOException {
        requireRoom(path.getParent(), HEADER_BYTES + header.ring);
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        try {
            write(fresh, header);
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Files.deleteIfExists(fresh);
            throw e;
        }
        StoreFiles.sync(path.getParent());
    }

    /** @throws FileSystemException if a log of this length does not fit into the directory's file system */
    public static void requireRoom(Path directory, long bytes) throws IOException {
        long free = NativeFile.mount(directory).freeBytes();
        if (bytes > free) {
            throw new FileSystemException(directory.resolve(NAME).toString(), null,
                    "a log of %,d bytes does not fit: the file system has %,d bytes free".formatted(bytes, free));
        }
    }

    private static void write(Path fresh, Header header) throws IOException {
        try (var file = NativeFile.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            clear(file, 0, HEADER_BYTES + header.ring);
            file.write(header.encode(), 0);
            file.force(true);
        }
    }

    /** Whether a log has nothing that the containers' files may lack. */
    public static boolean isEmpty(Path path) throws IOException {
        try (LogFile file = new LogFile(path)) {
            file.open();
            Header header = file.readHeader();
            LogRecords records = new LogRecords(file, header);
            int length = records.find(header.beginning());
            return header.applied() == header.beginning()
                    && (length == 0 || !records.operations(length).hasRemaining());
        } catch (LogDamaged e) {
            return false;
        }
    }

    void open() throws IOException {
        close();
        channel = NativeFile.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        identity = identity();
    }

    private Object identity() throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    /** Whether the file that is open is still the one that others will find. */
    boolean isInPlace() throws IOException {
        return Files.exists(path) && identity.equals(identity());
    }

    private static void clear(FileChannel file, long from, long to) throws IOException {
        for (long at = from; at < to;) {
            at += file.write(ByteBuffer.wrap(ZEROS, 0, (int) Math.min(ZEROS.length, to - at)), at);
        }
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
    }

    /** @throws LogDamaged if none of the headers is valid */
    Header readHeader() throws IOException {
        Header newest = null;
        for (int place = 0; place < HEADER_PLACES; place++) {
            Header found = readHeader(place);
            if (found != null && found.isNewerThan(newest)) {
                newest = found;
            }
        }
        if (newest == null) {
            throw LogDamaged.wholly(path, "none of its headers is valid");
        }
        return newest;
    }

    /** @throws LogDamaged if the file is shorter than the header says */
    void requireWhole(Header header) throws IOException {
        if (channel.size() < HEADER_BYTES + header.ring) {
            throw LogDamaged.partly(path, "it was cut off: it has " + channel.size()
                    + " bytes, and its header says " + (HEADER_BYTES + header.ring));
        }
    }

    private Header readHeader(int place) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Header.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        readFully(bytes, (long) place * HEADER_DISTANCE);
        return bytes.hasRemaining() ? null : Header.decode(bytes);
    }

    /**
     * Makes this the newest header, durably. Its beginning is higher than that of every header before, or what it says
     * is applied.
     */
    void writeHeader(Header header) throws IOException {
        channel.write(header.encode(), readHeader().equals(readHeader(0)) ? HEADER_DISTANCE : 0);
        channel.force(false);
    }

    /** A name that nothing has yet, for a file that is damaged and kept. */
    Path nextLost() {
        int number = 1;
        while (Files.exists(path.resolveSibling(LOST + number))) {
            number++;
        }
        return path.resolveSibling(LOST + number);
    }

    /**
     * Moves a log away that is damaged, and keeps it.
     *
     * @return where it is now
     */
    Path setAside() throws IOException {
        Path lost = nextLost();
        Files.move(path, lost, StandardCopyOption.ATOMIC_MOVE);
        StoreFiles.sync(path.getParent());
        return lost;
    }

    /** Makes room for a longer ring; the header has to name it then. */
    void lengthen(long ring, long longer) throws IOException {
        clear(channel, HEADER_BYTES + ring, HEADER_BYTES + longer);
        channel.force(true);
    }

    /** Writes what remains of the buffer. */
    void write(ByteBuffer from, long position, long ring) throws IOException {
        int end = from.limit();
        while (from.hasRemaining()) {
            long place = position % ring;
            int left = (int) Math.min(from.remaining(), ring - place);
            from.limit(from.position() + left);
            while (from.hasRemaining()) {
                place += channel.write(from, HEADER_BYTES + place);
            }
            position += left;
            from.limit(end);
        }
    }

    /** Fills the buffer up, as far as the file goes. */
    void read(ByteBuffer to, long position, long ring) throws IOException {
        int end = to.limit();
        long place = position % ring;
        to.limit((int) Math.min(end, to.position() + ring - place));
        readFully(to, HEADER_BYTES + place);
        if (!to.hasRemaining()) {
            to.limit(end);
            readFully(to, HEADER_BYTES);
        }
    }

    private void readFully(ByteBuffer to, long at) throws IOException {
        NativeFile.readFully(channel, to, at);
    }

    /** Makes durable what was written. */
    void sync() throws IOException {
        channel.force(false);
    }

    /** The check of some bytes, which is never 0. */
    static long check(byte[] bytes, int start, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, start, length);
        return crc.getValue() | MAGIC << 32;
    }
}
