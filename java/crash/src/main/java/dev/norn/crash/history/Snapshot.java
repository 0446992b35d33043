package dev.norn.crash.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What all registers had at one moment, as a transaction read it.
 *
 * @param name where it comes from, for messages
 * @param before a time before the moment, and {@code after} one after it
 * @param ids the numbers of each register, oldest first
 * @param complaints what is not whole
 */
public record Snapshot(String name, long before, long after, List<long[]> ids, List<String> complaints) {
    /** Reads what {@code Inspector} wrote. */
    public static Snapshot read(String name, Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        String[] times = lines.getFirst().split(" ");
        List<long[]> ids = new ArrayList<>();
        List<String> complaints = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            String[] words = line.split(" ");
            if (!words[0].equals("-")) {
                complaints.add(name + ": register " + ids.size() + ": " + words[0].replace('_', ' '));
            }
            ids.add(Arrays.stream(words).skip(1).mapToLong(Long::parseLong).toArray());
        }
        return new Snapshot(name, Long.parseLong(times[0]), Long.parseLong(times[1]), ids, complaints);
    }

    /** Of a copy as of a moment between these times. */
    public Snapshot at(long from, long to) {
        return new Snapshot(name, from, to, ids, complaints);
    }
}
