package dev.norn.sas.replica;

import dev.norn.sas.store.memory.StoreFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Properties;
import java.util.UUID;

/**
 * Where Ratis writes down a member's term and its vote, {@code current/raft-meta} of its part of the group's log: the
 * properties {@code term} and {@code votedFor}. When the disk is full, Ratis puts an empty file into its place, and
 * does not open it again.
 */
final class VoteFile {
    private static final String TERM = "term";
    private static final String VOTED_FOR = "votedFor";
    /** More terms than a group has in years. */
    private static final long TERMS_AWAY = 1_000_000_000;

    private VoteFile() {}

    /**
     * If the member's vote is lost, has it vote in no term that it may have voted in: the next one that it knows of is
     * far away, and counts for all others when they hear of it.
     *
     * @param known a term that there was
     * @throws IOException if there is still no room
     */
    static void repair(Path log, UUID group, String self, long known) throws IOException {
        Path file = log.resolve(group.toString()).resolve("current").resolve("raft-meta");
        if (Files.notExists(file) || isWhole(file)) {
            return;
        }
        // The store may have gone back behind the term that was begun with the last time: it is written down first.
        Path begun = log.resolve(group.toString()).resolve("vote-lost");
        long before = Files.exists(begun) ? Long.parseLong(Files.readString(begun).strip()) : 0;
        long term = Math.max(known, before) + TERMS_AWAY;
        replace(begun, term + "\n");
        replace(file, TERM + "=" + term + "\n" + VOTED_FOR + "=" + self + "\n");
    }

    private static void replace(Path file, String text) throws IOException {
        Path fresh = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(fresh, text);
        StoreFiles.sync(fresh);
        Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        StoreFiles.sync(file.getParent());
    }

    private static boolean isWhole(Path file) throws IOException {
        Properties vote = new Properties();
        try (BufferedReader in = Files.newBufferedReader(file)) {
            vote.load(in);
        }
        return vote.getProperty(TERM) != null && vote.getProperty(VOTED_FOR) != null;
    }
}
