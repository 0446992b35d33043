package dev.norn.bobc;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;

/** How the kernel reads a mapped file. */
enum Paging {
    /** As the disk's {@code read_ahead_kb} says, around the page that is missing. */
    READ_AHEAD,
    /** The page that is missing, no other: as the store maps its pool. */
    RANDOM;

    private static final int MADV_NORMAL = 0;

    /** Where the kernel says how far it reads ahead on the disk that has the file; in KB, -1 if it does not say. */
    static long readAheadKb(Path file) throws IOException {
        int device = (int) (long) Files.getAttribute(file, "unix:dev");
        Path queue =
                Path.of("/sys/dev/block/" + (device >> 8 & 0xFFF) + ":" + (device & 0xFF | device >> 12 & 0xFFF00));
        for (Path at : new Path[] {queue.resolve("queue/read_ahead_kb"), queue.resolve("../queue/read_ahead_kb")}) {
            if (Files.exists(at)) {
                return Long.parseLong(Files.readString(at).trim());
            }
        }
        return -1;
    }

    /**
     * Has the mappings of the file in this process read so.
     *
     * @throws IllegalStateException if there is no such mapping, or the kernel refuses
     */
    void apply(Path file) throws IOException {
        if (this == RANDOM) {
            return;
        }
        String name = file.toRealPath().toString();
        boolean isFound = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            if (line.endsWith(" " + name)) {
                String[] ends = line.substring(0, line.indexOf(' ')).split("-");
                long start = Long.parseUnsignedLong(ends[0], 16);
                advise(start, Long.parseUnsignedLong(ends[1], 16) - start);
                isFound = true;
            }
        }
        if (!isFound) {
            throw new IllegalStateException(name + " is not mapped");
        }
    }

    private static void advise(long start, long length) {
        Linker linker = Linker.nativeLinker();
        var madvise = linker.downcallHandle(linker.defaultLookup().findOrThrow("madvise"), FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
        int result;
        try {
            result = (int) madvise.invokeExact(MemorySegment.ofAddress(start), length, MADV_NORMAL);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        if (result != 0) {
            throw new IllegalStateException("madvise refuses " + length + " bytes at " + Long.toHexString(start));
        }
    }
}
