package dev.norn.sas.command;

import dev.norn.sas.Group;
import dev.norn.sas.Store;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.memory.StoreFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
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
        + "without a server.", "With --group, or where the store was served so before: connect it with the members of "
        + "its group. Programs of this machine open the store as ever; they can change it while its member leads."})
final class ServerCommand extends SasCommand.OnStore {
    private static final long REOPEN_MILLIS = 200;

    @Option(names = "--share", description = "replay the log when this share of it is in use (default: "
            + "${DEFAULT-VALUE})", defaultValue = "0.125")
    private double share;
    @Option(names = "--interval-millis", description = "time between two checks of the log and of dead programs "
            + "(default: ${DEFAULT-VALUE})", defaultValue = "50")
    private long intervalMillis;
    @CommandLine.Mixin
    private GroupCommands.Members members;
    @Option(names = "--self", paramLabel = "NAME", description = "the name of this store's member of the group "
            + "(default: as it was opened last)")
    private String self;
    @Option(names = "--group-log", paramLabel = "DIRECTORY", description = "the member's part of the group's log "
            + "(default: as it was opened last, or STORE.raft)")
    private Path groupLog;
    @Option(names = "--group-log-bytes", paramLabel = "BYTES", converter = Bytes.class, defaultValue = "64M",
            description = "how long the part of the group's log becomes before it is cut off; up to twice as much is "
                    + "kept (default: ${DEFAULT-VALUE})")
    private long groupLogBytes;
    @Option(names = "--election-millis", paramLabel = "MILLISECONDS", defaultValue = "" + Group.ELECTION_MILLIS,
            description = "after how long without a word from the leader this member wants another one; longer where "
                    + "processes wait as long for a processor or a disk; the same at all members (default: "
                    + "${DEFAULT-VALUE})")
    private int electionMillis;
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
            return isMember() ? serveMember() : super.call();
        } finally {
            closed.countDown();
        }
    }

    private static String owner(FileChannel channel) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(20);
        channel.read(text, 0);
        return new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII);
    }

    private boolean isMember() {
        boolean isMember = Files.exists(directory().resolve(StoreFiles.REPLICA));
        if (!isMember && (members.isGiven() || self != null || groupLog != null)) {
            throw new SASException("the store " + directory() + " is no member of a group: `sas found` makes it the "
                    + "first one, and copies it for the others");
        }
        return isMember;
    }

    private Group group() {
        Group last = Group.of(directory());
        if (self == null && last == null) {
            throw new SASException("the member with the store " + directory() + " was never opened: name it with "
                    + "--self, and its group with --group");
        }
        return new Group(self != null ? self : last.self(), members.of(directory()), groupLog)
                .withLogBytes(groupLogBytes).withElectionMillis(electionMillis);
    }

    /** A member that has led and does not any more is opened again, once no other program uses its store. */
    private int serveMember() throws Exception {
        Group group = group();
        endWhenInterrupted();
        for (Store store = Store.open(directory(), group); store != null;) {
            try (Store its = store) {
                serve(its, group.self());
            }
            store = interrupted.getCount() == 0 ? null : reopen(group);
        }
        return 0;
    }

    /** Returns when interrupted, or when the member is to be opened again. */
    private void serve(Store store, String name) throws InterruptedException {
        say("process " + ProcessHandle.current().pid() + " serves " + store + " as the member " + name
                + " of its group until it is interrupted");
        boolean wasLeader = false;
        while (!interrupted.await(intervalMillis, TimeUnit.MILLISECONDS)) {
            if (store.member().isLeader() && !wasLeader) {
                wasLeader = true;
                say(name + " leads, in term " + store.member().epoch());
            }
            try {
                tend(store);
            } catch (StorageWriteFailure e) {
                // Its leadership may have ended in the meantime.
                if (store.member().isUsable()) {
                    throw e;
                }
            }
            if (!store.member().isUsable()) {
                say(name + " takes no more changes, and is opened again");
                return;
            }
        }
    }

    /** Waits for programs that use the store, and for room on the disk; null if interrupted. */
    private Store reopen(Group group) throws InterruptedException {
        String told = "";
        do {
            try {
                return Store.open(directory(), group);
            } catch (StorageReadFailure | StorageWriteFailure e) {
                if (!told.equals(e.getMessage())) {
                    told = e.getMessage();
                    say("waits: " + told);
                }
            }
        } while (!interrupted.await(REOPEN_MILLIS, TimeUnit.MILLISECONDS));
        return null;
    }

    private void say(String text) {
        print(Instant.now().truncatedTo(ChronoUnit.SECONDS) + " " + text);
    }

    private void endWhenInterrupted() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            interrupted.countDown();
            try {
                closed.await(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
    }

    private void tend(Store store) {
        if (!Files.exists(directory().resolve("store.properties"))) {
            throw new SASException(directory() + " does not exist any more: there is nothing to serve");
        }
        store.attached().tend(share);
    }

    @Override
    int run(Store store) throws Exception {
        endWhenInterrupted();
        say("process " + ProcessHandle.current().pid() + " serves " + store + " until it is interrupted");
        long before = store.attached().counts().checkpoints();
        while (!interrupted.await(intervalMillis, TimeUnit.MILLISECONDS)) {
            tend(store);
        }
        say(store.attached().counts().checkpoints() - before
                + " times the containers' files were brought up to date meanwhile");
        return 0;
    }
}
