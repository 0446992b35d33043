package dev.norn.sas.store;

import static dev.norn.sas.store.Format.MAGIC;

import dev.norn.sas.StorageReadFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * The file of the redo log: two headers, of which the newer valid one counts, and a ring of bytes behind them. A position in the log is a number of bytes that
 * never starts anew; its place in the ring is what remains of it by the ring's length, which the header names.
 */
final class LogFile implements AutoCloseable {
    static final int HEADER_BYTES = 4096;
    /** Positions, records and the ring are multiples of this. */
    static final int WORD_BYTES = 8;
    private static final int HEADER_PLACES = 2;
    private static final int HEADER_DISTANCE = HEADER_BYTES / HEADER_PLACES;
    private static final long VERSION = 2;
    private static final byte[] ZEROS = new byte[1 << 16];

    /**
     * @param beginning the position of the first record that is not in the containers' files
     * @param ring the ring's length in bytes
     */
    record Header(long beginning, long ring) {
        private static final int CHECKED_BYTES = 32;
        private static final int BYTES = CHECKED_BYTES + WORD_BYTES;

        private ByteBuffer encode() {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(MAGIC).putLong(VERSION).putLong(beginning).putLong(ring);
            return bytes.putLong(check(bytes.array(), 0, CHECKED_BYTES)).flip();
        }
    }

    final Path path;
    private FileChannel channel;

    LogFile(Path path) {
        this.path = path;
    }

    /** Opens the file, or makes it, full of zeros so that later syncs need not write where it is. */
    void open(long bytes) throws IOException {
        if (!Files.exists(path)) {
            Path fresh = path.resolveSibling("redo.log.new");
            try (var file = NativeFile.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
                long ring = Math.max(bytes - HEADER_BYTES, ZEROS.length) / WORD_BYTES * WORD_BYTES;
                clear(file, 0, HEADER_BYTES + ring);
                file.write(new Header(0, ring).encode(), 0);
                file.force(true);
            }
            Files.move(fresh, path, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            ContainerFile.sync(path.getParent());
        }
        channel = NativeFile.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
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

    /** @throws StorageReadFailure if none of the headers is valid */
    Header readHeader() throws IOException {
        Header newest = null;
        for (int place = 0; place < HEADER_PLACES; place++) {
            Header found = readHeader(place);
            if (found != null && (newest == null || found.beginning > newest.beginning)) {
                newest = found;
            }
        }
        if (newest == null) {
            throw new StorageReadFailure("the log " + path + " is damaged: none of its headers is valid");
        }
        return newest;
    }

    private Header readHeader(int place) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Header.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        readFully(bytes, (long) place * HEADER_DISTANCE);
        boolean isValid = !bytes.hasRemaining() && bytes.getLong(0) == MAGIC && bytes.getLong(8) == VERSION
                && bytes.getLong(Header.CHECKED_BYTES) == check(bytes.array(), 0, Header.CHECKED_BYTES);
        return isValid ? new Header(bytes.getLong(16), bytes.getLong(24)) : null;
    }

    /** Makes this the newest header, durably. Its beginning is higher than that of every header before. */
    void writeHeader(Header header) throws IOException {
        Header first = readHeader(0);
        boolean isFirstNewest = first != null && first.beginning == readHeader().beginning;
        channel.write(header.encode(), isFirstNewest ? HEADER_DISTANCE : 0);
        channel.force(false);
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
        readFully(channel, to, at);
    }

    /** Fills the buffer up, as far as the file goes. */
    static void readFully(FileChannel from, ByteBuffer to, long at) throws IOException {
        for (int read; to.hasRemaining() && (read = from.read(to, at)) > 0;) {
            at += read;
        }
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
