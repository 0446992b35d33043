package dev.norn.sas.example;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * What child JVMs run: {@code STORE FILE PROCESS THREADS SEED}, random transactions on the registers for ever. Each
 * thread writes its history into a file of its own, each line with one system call and with {@link #END}, so that a
 * killed JVM leaves all it did, and a line that the kill cut off is known: {@code invoke ID TIME}, and when the
 * transaction is over {@code done ID INVOKED ENDED} and what it used, {@code REGISTER:WRITERS:KIND}, where KIND is r
 * for read and w for read and then written.
 */
final class HistoryProgram {
    static final int REGISTERS = 5;
    static final String END = " ;";

    private HistoryProgram() {}

    public static void main(String[] arguments) throws Exception {
        Store store = Store.open(Path.of(arguments[0]));
        for (int thread = 0; thread < Integer.parseInt(arguments[3]); thread++) {
            long first = (Long.parseLong(arguments[2]) * 100 + thread + 1) * 1_000_000;
            Random random = new Random(Long.parseLong(arguments[4]) * 31 + first);
            var out = new FileOutputStream(arguments[1] + "." + thread);
            Thread.ofPlatform().start(() -> run(store, first, random, out));
        }
        System.out.println("ready");
    }

    private static void run(Store store, long first, Random random, FileOutputStream out) {
        Register[] registers = new Register[REGISTERS];
        for (int i = 0; i < REGISTERS; i++) {
            registers[i] = store.root("register " + i, Register.class);
        }
        for (long id = first;; id++) {
            long invoked = System.nanoTime();
            say(out, "invoke " + id + " " + invoked);
            String used = random.nextInt(5) == 0 ? readAlone(registers, random)
                    : transact(registers, random.nextLong(), id);
            say(out, "done " + id + " " + invoked + " " + System.nanoTime() + used);
        }
    }

    private static void say(FileOutputStream out, String line) {
        try {
            out.write((line + END + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Outside transactions, one register. */
    private static String readAlone(Register[] registers, Random random) {
        int index = random.nextInt(REGISTERS);
        return " " + index + ":" + registers[index].writer() + ":r";
    }

    private static String transact(Register[] registers, long seed, long id) {
        List<String> used = new ArrayList<>();
        Transaction.run(() -> {
            // After a conflict, the same again.
            used.clear();
            Random random = new Random(seed);
            for (int at = random.nextInt(REGISTERS), count = 1 + random.nextInt(4); count > 0; count--) {
                at = (at + 1 + random.nextInt(2)) % REGISTERS;
                long[] writers = registers[at].writers();
                boolean isWritten = writers[0] != id && random.nextInt(2) == 0;
                if (isWritten) {
                    registers[at].write(id);
                }
                if (writers[0] != id) {
                    used.add(" " + at + ":" + writers[0] + "," + writers[1] + "," + writers[2] + "," + writers[3] + ","
                            + writers[4] + (isWritten ? ":w" : ":r"));
                }
            }
        });
        return String.join("", used);
    }
}
