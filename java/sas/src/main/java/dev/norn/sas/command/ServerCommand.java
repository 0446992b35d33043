package dev.norn.sas.command;

import dev.norn.sas.Store;
import dev.norn.sas.exception.SASException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Does for a store what its programs otherwise do in passing: brings the containers' files up to date before the log is
 * half full, so that no transaction has to, and undoes at once what dead programs left. It keeps the pool in use
 * between programs, so that none of them has to read the containers or write them. Programs need no server, and notice
 * none.
 */
@Command(name = "server", description = {"Serve a store until interrupted: replay its log in the background, so that "
        + "no transaction waits for a replay; undo transactions of dead programs "
        + "before others wait for their locks; keep the pool in use between programs.", "A store also works "
        + "without a server."})
final class ServerCommand extends SasCommand.OnStore {
    @Option(names = "--share", description = "replay the log when this share of it is in use (default: "
            + "${DEFAULT-VALUE})", defaultValue = "0.125")
    private double share;
    @Option(names = "--interval-millis", description = "time between two checks of the log and of dead programs "
            + "(default: ${DEFAULT-VALUE})", defaultValue = "50")
    private long intervalMillis;
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    @Override
    public Integer call() throws Exception {
        if (!(share > 0 && share <= 1)) {
            throw new SASException("--share is " + share + ", not in (0, 1]");
        }
        if (intervalMillis < 1) {
            throw new SASException("--interval-millis is " + intervalMillis + ", less than 1");
        }
        Path file = directory().resolve("server");
        if (!Files.exists(directory().resolve("store.properties"))) {
            throw new SASException(directory() + " is not a store: it has no store.properties; `sas create` makes one");
        }
        try (var channel = FileChannel.open(
                        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                var lock = channel.tryLock(Long.MAX_VALUE - 1, 1, false)) {
            if (lock == null) {
                throw new SASException("process " + owner(channel) + " serves " + directory() + " already");
            }
            channel.truncate(0).write(
                    ByteBuffer.wrap(Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)));
            return super.call();
        } finally {
            closed.countDown();
        }
    }

    private static String owner(FileChannel channel) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(20);
        channel.read(text, 0);
        return new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII);
    }

    @Override
    int run(Store store) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            interrupted.countDown();
            try {
                closed.await(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        print("process " + ProcessHandle.current().pid() + " serves " + store + " until it is interrupted");
        long before = store.attached().counts().checkpoints();
        while (!interrupted.await(intervalMillis, TimeUnit.MILLISECONDS)) {
            if (!Files.exists(directory().resolve("store.properties"))) {
                throw new SASException(directory() + " does not exist any more: there is nothing to serve");
            }
            store.attached().tend(share);
        }
        print(store.attached().counts().checkpoints() - before
                + " times the containers' files were brought up to date meanwhile");
        return 0;
    }
}
