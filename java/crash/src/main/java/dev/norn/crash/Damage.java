package dev.norn.crash;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/**
 * Damage to the files of a copy that no process uses: flipped bits, or a file cut short. docs/format/sas.md says
 * where the log's records are.
 */
record Damage(Path file, String what) {
    private static final int LOG_HEADER_BYTES = 4096;
    private static final int LOG_BEGINNING = 16;
    private static final int LOG_RING = 24;
    private static final int LOG_RECORD = 0x5341_5352;

    /** What an error message has to have: the file, or its container. */
    String name() {
        return file.getFileName().toString().replaceFirst("\\.container$", "");
    }

    @Override
    public String toString() {
        return what + " in " + file.getFileName();
    }

    /** Flips a bit of the log, in its records mostly, or cuts the file short. */
    static Damage ofLog(Path store, Random random) throws IOException {
        Path log = store.resolve("redo.log");
        long place = placeInLog(log, random);
        return random.nextInt(5) == 0 ? cut(log, random.nextLong(Files.size(log))) : flip(log, place, random);
    }

    /** Flips a bit of a container, or cuts its file short. */
    static Damage ofContainer(Path store, Random random) throws IOException {
        List<Path> files;
        try (var all = Files.list(store)) {
            files = all.filter(file -> file.toString().endsWith(".container")).sorted().toList();
        }
        Path file = files.get(random.nextInt(files.size()));
        long place = random.nextLong(Files.size(file));
        return random.nextInt(5) == 0 ? cut(file, place) : flip(file, place, random);
    }

    private static long placeInLog(Path log, Random random) throws IOException {
        ByteBuffer headers = ByteBuffer.allocate(LOG_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (var file = Files.newByteChannel(log)) {
            file.read(headers);
        }
        int header = headers.getLong(LOG_BEGINNING) > headers.getLong(LOG_HEADER_BYTES / 2 + LOG_BEGINNING) ? 0
                : LOG_HEADER_BYTES / 2;
        long ring = headers.getLong(header + LOG_RING);
        long beginning = headers.getLong(header + LOG_BEGINNING);
        long used = end(log, beginning, ring) - beginning;
        return used == 0 || random.nextInt(10) == 0 ? random.nextInt(LOG_HEADER_BYTES)
                : LOG_HEADER_BYTES + (beginning + random.nextLong(used)) % ring;
    }

    /** Where the records end. */
    private static long end(Path log, long beginning, long ring) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
            for (long position = beginning;;) {
                int magic = word(file, position, ring);
                int length = word(file, position + 4, ring);
                if (magic != LOG_RECORD || length <= 0 || position + length > beginning + ring) {
                    return position;
                }
                position += length;
            }
        }
    }

    private static int word(RandomAccessFile file, long position, long ring) throws IOException {
        file.seek(LOG_HEADER_BYTES + position % ring);
        return Integer.reverseBytes(file.readInt());
    }

    private static Damage flip(Path file, long place, Random random) throws IOException {
        int bit = random.nextInt(8);
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.seek(place);
            int value = bytes.read();
            bytes.seek(place);
            bytes.write(value ^ 1 << bit);
        }
        return new Damage(file, "bit " + bit + " of byte " + place + " flipped");
    }

    private static Damage cut(Path file, long length) throws IOException {
        try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
            bytes.setLength(length);
        }
        return new Damage(file, "cut to " + length + " bytes");
    }
}
