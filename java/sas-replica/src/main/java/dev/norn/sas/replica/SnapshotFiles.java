package dev.norn.sas.replica;

import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.store.memory.StoreArchive;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.replica.ReplicaStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.SnapshotRetentionPolicy;
import org.apache.ratis.statemachine.StateMachineStorage;

/**
 * What of the group's log a member's store has in its files, and copies of the store for members that lack what the log
 * has no more. They are in the folder {@code sm} of the member's part of the group's log.
 *
 * <pre>
 * mark              term and index of an entry: the store's files have it, and all before
 * copy-TERM-INDEX   an archive of the store: made for others, or sent by another
 *
 * mark | copy | the store
 *  -   |  -   | has what it was founded with: the group's log has the rest
 *  yes |  -   | has what the mark says
 *  yes | yes  | the same; the copy was made for others
 *  -   | yes  | is to take the copy, which another member has sent: Ratis replaces the whole folder
 * </pre>
 */
final class SnapshotFiles implements StateMachineStorage {
    private static final Pattern COPY = Pattern.compile("copy-(\\d+)-(\\d+)");
    private static final String MARK = "mark";
    private static final Duration COPY_AGE_MAX = Duration.ofMinutes(1);

    private final Path folder;
    private volatile TermIndex mark;
    /** The entry that a copy has which was received; null if there is none. */
    private volatile TermIndex received;
    private boolean isFrozen;
    /** What makes copies; null while none can be made. */
    private volatile ReplicaStore replica;

    SnapshotFiles(Path log, UUID group) throws IOException {
        folder = log.resolve(group.toString()).resolve("sm");
        if (Files.exists(folder.resolve(MARK))) {
            String[] words = Files.readString(folder.resolve(MARK)).strip().split(" ");
            mark = TermIndex.valueOf(Long.parseLong(words[0]), Long.parseLong(words[1]));
        }
        receive();
    }

    /** What makes copies for others. */
    void use(ReplicaStore its) {
        replica = its;
    }

    /** The entry that the store's files have, with all before; null if that is not known. */
    TermIndex mark() {
        return mark;
    }

    /** From now on, a mark would name the copy that another member sends, which the store does not have yet. */
    synchronized void freeze() {
        isFrozen = true;
    }

    /** Says that the store's files have this entry, and all before. Durable when it returns. */
    synchronized void mark(TermIndex at) throws IOException {
        if (isFrozen) {
            return;
        }
        Path fresh = folder.resolve(MARK + ".new");
        Files.writeString(fresh, at.getTerm() + " " + at.getIndex() + "\n");
        StoreFiles.sync(fresh);
        Files.move(fresh, folder.resolve(MARK), StandardCopyOption.ATOMIC_MOVE);
        StoreFiles.sync(folder);
        mark = at;
    }

    private Path copy() {
        if (Files.notExists(folder)) {
            return null;
        }
        try (var files = Files.list(folder)) {
            return files.filter(file -> COPY.matcher(file.getFileName().toString()).matches()).findFirst().orElse(null);
        } catch (IOException e) {
            throw new StorageReadFailure("cannot list " + folder + ": " + StoreFiles.reason(e), e);
        }
    }

    private static TermIndex at(Path copy) {
        Matcher name = COPY.matcher(copy.getFileName().toString());
        if (!name.matches()) {
            throw new IllegalArgumentException(copy.toString());
        }
        return TermIndex.valueOf(Long.parseLong(name.group(1)), Long.parseLong(name.group(2)));
    }

    /** What another member has sent, and the store does not have yet; null if there is nothing. */
    Path received() {
        return Files.exists(folder.resolve(MARK)) ? null : copy();
    }

    /** The store has what was received. */
    void adopt() throws IOException {
        Path copy = received();
        if (copy != null) {
            mark(at(copy));
            removeCopies();
        }
    }

    private synchronized void removeCopies() throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.filter(one -> one.getFileName().toString().startsWith("copy")).toList()) {
                if (Files.isDirectory(file)) {
                    StoreFiles.remove(file);
                }
                Files.delete(file);
            }
        }
    }

    /** Removes a copy that was made for others, once it is old, unless somebody lacks what it has. */
    synchronized void removeOldCopy(long leastNextIndex) throws IOException {
        Path copy = mark == null ? null : copy();
        if (copy != null && leastNextIndex > at(copy).getIndex()
                && Files.getLastModifiedTime(copy).toInstant().plus(COPY_AGE_MAX).isBefore(Instant.now())) {
            removeCopies();
        }
    }

    /**
     * Makes a copy of the store, which has this entry, unless there is one. Costs as much as a backup, and its room.
     */
    synchronized Path copy(TermIndex at) throws IOException {
        Path copy = folder.resolve("copy-" + at.getTerm() + "-" + at.getIndex());
        if (Files.notExists(copy)) {
            removeCopies();
            Path backup = folder.resolve("copy.new");
            replica.backup(backup);
            Path archive = folder.resolve("copy.archive");
            StoreArchive.write(backup, archive);
            Files.move(archive, copy, StandardCopyOption.ATOMIC_MOVE);
            StoreFiles.remove(backup);
            Files.delete(backup);
        }
        return copy;
    }

    /** Ratis asks again and again; the copy is made when it wants to send it. */
    @Override
    public SnapshotInfo getLatestSnapshot() {
        TermIndex its = mark != null ? mark : received;
        return its == null ? null : new Snapshot(its);
    }

    private final class Snapshot implements SnapshotInfo {
        private final TermIndex at;
        private List<FileInfo> files;

        Snapshot(TermIndex at) {
            this.at = at;
        }

        @Override
        public TermIndex getTermIndex() {
            return at;
        }

        @Override
        public synchronized List<FileInfo> getFiles() {
            try {
                if (files == null) {
                    files = List.of(new FileInfo(copy(at), null));
                }
                return files;
            } catch (IOException e) {
                throw new StorageReadFailure("cannot copy the store for another member: " + StoreFiles.reason(e), e);
            }
        }

        @Override
        public String toString() {
            return at.toString();
        }
    }

    /** Looks what is there: Ratis replaces the folder. */
    void receive() {
        Path copy = received();
        received = copy == null ? null : at(copy);
        mark = copy == null ? mark : null;
    }

    @Override
    public void init(RaftStorage storage) throws IOException {
        Files.createDirectories(folder);
    }

    @Override
    public void cleanupOldSnapshots(SnapshotRetentionPolicy policy) {
        // There is one at most.
    }

    @Override
    public void format() throws IOException {
        Files.createDirectories(folder);
        removeCopies();
        Files.deleteIfExists(folder.resolve(MARK));
    }
}
