package dev.norn.bobc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * What the machine does: how long a sync of 512 bytes takes here and now, and what this process has written and used.
 */
final class Probe {
    private static final int SYNCS = 100;
    private static final int BYTES = 512;
    private static final int APPEND_BYTES = 4096;
    private static final int APPENDS_MAX = (256 << 20) / APPEND_BYTES;

    private Probe() {}

    /** Median of overwriting 512 bytes of a file and syncing them, in microseconds. */
    static double syncMicros(Path directory) {
        Path file = directory.resolve("probe");
        try (var channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(SYNCS * BYTES), 0);
            channel.force(true);
            long[] nanos = new long[SYNCS];
            for (int i = 0; i < SYNCS; i++) {
                long start = System.nanoTime();
                channel.write(ByteBuffer.allocate(BYTES).put(0, (byte) i), (long) i * BYTES);
                channel.force(false);
                nanos[i] = System.nanoTime() - start;
            }
            Arrays.sort(nanos);
            Files.delete(file);
            return nanos[SYNCS / 2] / 1000.0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Appends 4 KB to a file and syncs it, again and again; stops before its time at 256 MB. */
    static HotOutcome appends(Path directory, int seconds) throws IOException {
        Path file = Files.createTempFile(directory, "bobc", "probe");
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            Waits waits = new Waits();
            long start = System.nanoTime();
            long end = start;
            int count = 0;
            while (count < APPENDS_MAX && end - start < TimeUnit.SECONDS.toNanos(seconds)) {
                long before = end;
                channel.write(ByteBuffer.allocate(APPEND_BYTES).put(0, (byte) 1));
                channel.force(false);
                end = System.nanoTime();
                waits.add(end - before);
                count++;
            }
            return new HotOutcome((end - start) / 1e9, count, count, 0, count, count, -1, waits);
        } finally {
            Files.delete(file);
        }
    }

    /** Whether a directory is in a file system that a stop of the machine empties. */
    static boolean isInMemory(Path directory) throws IOException {
        return Files.getFileStore(directory).type().matches("tmpfs|ramfs");
    }

    /** What the files of a directory take on its disk, holes not counted. */
    static long diskBytes(Path directory) throws IOException {
        try {
            Process du = new ProcessBuilder("du", "-s", "-B1", directory.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            String said = new String(du.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            if (du.waitFor() != 0) {
                throw new IOException("du does not know what " + directory + " takes");
            }
            return Long.parseLong(said.split("\\s")[0]);
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        }
    }

    /** CPU time of this process, in nanoseconds. */
    static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory
                .getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /**
     * A line of {@code /proc/PROCESS/io}: {@code wchar} for bytes given to write calls, {@code write_bytes} for pages
     * of files made dirty, {@code read_bytes} for what came from a disk.
     */
    static long io(String process, String name) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc", process, "io"))) {
                if (line.startsWith(name + ":")) {
                    return Long.parseLong(line.substring(name.length() + 1).trim());
                }
            }
            return -1;
        } catch (IOException e) {
            return -1;
        }
    }

    /** Page faults of a process that waited for a disk. */
    static long majorFaults(String process) {
        try {
            String line = Files.readString(Path.of("/proc", process, "stat"));
            // After the name in parentheses: state, parent, group, session, terminal, its group, flags, minor faults,
            // those of children, major faults.
            return Long.parseLong(line.substring(line.lastIndexOf(')') + 2).split(" ")[9]);
        } catch (IOException e) {
            return -1;
        }
    }
}
