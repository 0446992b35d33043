package dev.norn.crash.program;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A thread's side file: each line is one system call, so that a killed JVM leaves all that it wrote, and ends with
 * {@link #END}, so that a line that is cut off is known.
 *
 * <pre>
 * begin ID TIME REGISTERS      the attempt, with the registers that it will append to, before it
 * commit ID TIME USES          after the commit has returned; each use is REGISTER:LENGTH:LAST:KIND, what was seen;
 *                              KIND is a for an append after it, r for a read, l for a read of LAST only
 * undone ID TIME REASON        after the transaction has been undone, for sure
 * failed ID TIME REASON        what no transaction may end with
 * </pre>
 *
 * A transaction with neither of the last three may be committed or not.
 */
final class Journal {
    static final String END = " ;";

    private final FileOutputStream out;

    Journal(Path file) {
        try {
            out = new FileOutputStream(file.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void write(String verb, long id, String rest) {
        try {
            out.write((verb + " " + id + " " + System.nanoTime() + (rest.isEmpty() ? "" : " " + rest) + END + "\n")
                    .getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
