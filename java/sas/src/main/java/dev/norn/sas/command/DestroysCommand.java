package dev.norn.sas.command;

import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.runtime.Session;
import dev.norn.sas.store.transaction.DestroyRecord;
import dev.norn.sas.store.transaction.DestroyRecords;
import dev.norn.sas.store.transaction.StoreTransaction;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sas destroys}: the record of destroyed objects. */
@Command(name = "destroys", description = "Print the record of destroyed objects, the oldest first: time, address, "
        + "generation, class, container, user, process, thread and note, with tabs between them.")
final class DestroysCommand extends SasCommand.OnStore {
    /** Records that one transaction moves. */
    private static final int BATCH = 1000;

    @Option(names = "--move-to", paramLabel = "FILE", description = "append the lines to this file instead, sync it, "
            + "and take the records out of the store; if this is interrupted, the next time may write up to 1,000 "
            + "lines again")
    private Path file;

    @Override
    int run(Store store) throws IOException {
        if (file == null) {
            store.destroys().forEach(record -> print(record.line()));
        } else {
            move();
        }
        return 0;
    }

    private void move() throws IOException {
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.APPEND)) {
            List<Long> all = Transaction.call(() -> DestroyRecords.references(Session.get().transaction()));
            int moved = 0;
            for (int from = 0; from < all.size(); from += BATCH) {
                List<Long> some = all.subList(from, Math.min(all.size(), from + BATCH));
                moved += Transaction.call(() -> move(Session.get().transaction(), some, out));
            }
            print(moved + " records moved to " + file);
        }
    }

    /** All are locked before any is written: so a conflict writes none twice. */
    private static int move(StoreTransaction transaction, List<Long> references, FileChannel out) throws IOException {
        List<Long> taken = DestroyRecords.take(transaction, references);
        String lines = taken.stream().map(DestroyRecords::read).sorted(Comparator.comparing(DestroyRecord::time))
                .map(record -> record.line() + "\n").collect(Collectors.joining());
        ByteBuffer bytes = ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            out.write(bytes);
        }
        out.force(true);
        taken.forEach(transaction::destroy);
        return taken.size();
    }
}
