package dev.norn.sas;

import dev.norn.sas.exception.Outcome;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.memory.MemberFile;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.replica.ReplicaStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * A group of members, each of which has a copy of one store, and which of them this JVM is: for
 * {@link Store#open(Path, Group)}. What carries records between them is found on the class path:
 * {@code norn-sas-replica}, and Apache Ratis with it.
 *
 * @param self the name of this JVM's member
 * @param members addresses, as {@code host:port}, of all members by their names; the same at all members
 * @param log the directory of the member's part of the group's log; null for one beside the store's directory, with
 *     {@code .raft} after its name
 * @param logBytes how long the part of the group's log becomes before it is cut off: the member's store has what was in
 *     it. Between once and twice as much is kept, for members that were away
 * @param electionMillis after how long without a word from the leader this member wants another one, at least; at most
 *     3.6 times as much. The same at all members
 */
public record Group(String self, Map<String, String> members, Path log, long logBytes, int electionMillis) {
    /** 64 MB. */
    public static final long LOG_BYTES = 64L << 20;
    /** Shorter ones would be cut off all the time. */
    private static final long LOG_BYTES_MIN = 64L << 10;
    /** Half a second: longer where processes wait as long for a processor, a disk or the network. */
    public static final int ELECTION_MILLIS = 500;
    private static final int ELECTION_MILLIS_MIN = 100;
    private static final int ELECTION_MILLIS_MAX = 60_000;
    private static final Duration ANSWER_WAIT = Duration.ofSeconds(5);

    public Group {
        Objects.requireNonNull(self, "the member's own name is null");
        members = Map.copyOf(requireValid(members));
        if (!members.containsKey(self)) {
            throw new SASException("the group " + new TreeMap<>(members) + " has no member " + self);
        }
        if (logBytes < LOG_BYTES_MIN) {
            throw new SASException("the group's log of " + logBytes + " bytes is shorter than " + LOG_BYTES_MIN);
        }
        if (electionMillis < ELECTION_MILLIS_MIN || electionMillis > ELECTION_MILLIS_MAX) {
            throw new SASException("elections after " + electionMillis + " ms: from " + ELECTION_MILLIS_MIN + " to "
                    + ELECTION_MILLIS_MAX + " are possible");
        }
    }

    /** The same with a log of {@link #LOG_BYTES}, and elections after {@link #ELECTION_MILLIS}. */
    public Group(String self, Map<String, String> members, Path log) {
        this(self, members, log, LOG_BYTES, ELECTION_MILLIS);
    }

    /** The same with the log beside the store's directory. */
    public Group(String self, Map<String, String> members) {
        this(self, members, null);
    }

    public Group withLogBytes(long bytes) {
        return new Group(self, members, log, bytes, electionMillis);
    }

    public Group withElectionMillis(int millis) {
        return new Group(self, members, log, logBytes, millis);
    }

    private Group withLog(Path path) {
        return new Group(self, members, path, logBytes, electionMillis);
    }

    /** @throws SASException that says which name or address is none */
    public static Map<String, String> requireValid(Map<String, String> members) {
        Objects.requireNonNull(members, "the members are null");
        members.forEach((name, address) -> {
            if (!name.matches("[A-Za-z0-9_-]+")) {
                throw new SASException("\"" + name + "\" is no member's name: write letters, digits, _ and -");
            }
            if (!address.matches("[^\\s:=,]+:[1-9][0-9]{0,4}")) {
                throw new SASException("the address of the member " + name + " is \"" + address
                        + "\", not host:port");
            }
        });
        return members;
    }

    /**
     * Makes a store, which no program uses, the first member of a group, and copies it for the other members. No more
     * members can be made so once one of them was opened.
     *
     * @param copies new directories
     * @throws SASException if the store is a member of a group
     */
    public static void found(Path store, List<Path> copies) {
        try {
            if (MemberFile.read(store) != null) {
                throw new SASException("the store " + store + " is a member of a group already");
            }
            ReplicaStore.prepare(store);
            for (Path copy : copies) {
                ReplicaStore.copy(store, copy);
            }
        } catch (IOException e) {
            throw new StorageWriteFailure("cannot make " + store + " the first member of a group: "
                    + StoreFiles.reason(e), e);
        }
    }

    /** The group of a member as it was opened last; null if it was never opened. */
    public static Group of(Path store) {
        MemberFile file = file(store);
        requireCounted(store, file);
        return file.members() == null ? null : new Group(file.self(), file.members(), file.log());
    }

    private static void requireCounted(Path store, MemberFile file) {
        if (file.members() != null && !file.members().containsKey(file.self())) {
            throw new SASException("the member " + file.self() + " of the store " + store
                    + " was removed from its group, and is not opened any more");
        }
    }

    private static MemberFile file(Path store) {
        try {
            MemberFile file = MemberFile.read(store);
            if (file == null) {
                throw new StorageReadFailure("the store " + store + " is no member of a group: `sas found` makes it "
                        + "the first one", null);
            }
            return file;
        } catch (IOException e) {
            throw new StorageReadFailure("cannot read the group of " + store + ": " + StoreFiles.reason(e), e);
        }
    }

    /** The same, and waits 5 s for answers. */
    public static List<MemberStatus> status(Path store, Map<String, String> members) {
        return status(store, members, ANSWER_WAIT);
    }

    /**
     * Asks each member of a store's group how it is. Costs a message to each, all at once. These members are asked
     * first; the leader says who was added or removed since.
     *
     * @param wait for answers, if one does not come
     */
    public static List<MemberStatus> status(Path store, Map<String, String> members, Duration wait) {
        return transport().status(file(store).group(), requireValid(members), wait);
    }

    /**
     * Asks the members of a store's group what became of the transaction that an {@code OutcomeUnknown} names. Costs a
     * message to each, all at once. As long as it is {@link Outcome#NOT_YET}, ask again: it is known once the next
     * leader has begun.
     *
     * @param store of a member, which may be in use
     * @param members that are asked, as in {@link #status(Path, Map)}
     * @throws StorageReadFailure if none of them answers within 5 s
     */
    public static Outcome outcome(Path store, Map<String, String> members, long epoch, long number) {
        return transport().outcome(file(store).group(), requireValid(members), epoch, number, ANSWER_WAIT);
    }

    /** The same of the members that there were when the store was opened last. */
    public static Outcome outcome(Path store, long epoch, long number) {
        return outcome(store, of(store).members(), epoch, number);
    }

    /**
     * Makes a new member of a group that runs, in a new directory: gets a copy of the store from the leader, and has
     * the group count the member. Costs as much as reading, sending and writing all containers. The member is opened by
     * {@link Store#open(Path, Group)} then, soon, as the group needs a majority of its members.
     *
     * <p>A member that has lost its disk is {@link #remove}d, and another one joins in its place, under another name:
     * with its old one, it could vote against what it has acknowledged.
     *
     * @param group with the members that there are, and the new one, which is its {@code self}
     * @param step is told, before each thing that may be waited for, who is asked and what for
     */
    public static void join(Path directory, Group group, Consumer<String> step) {
        Path first = StoreFiles.firstMissing(directory);
        try {
            java.nio.file.Files.createDirectories(directory);
            if (StoreFiles.find(directory) != null) {
                throw new SASException(directory + " has files of a store already: a new member needs a new directory");
            }
            Group its = group.withLog(logOf(directory, group.log));
            transport().join(directory, its, step);
        } catch (IOException | RuntimeException e) {
            removeEmpty(directory, first, e);
            throw e instanceof RuntimeException its ? its : new StorageWriteFailure("cannot make " + directory
                    + " a member of a group: " + StoreFiles.reason((IOException) e), e);
        }
    }

    /** The same, and says nothing meanwhile. */
    public static void join(Path directory, Group group) {
        join(directory, group, step -> {});
    }

    private static void removeEmpty(Path directory, Path first, Exception reason) {
        try {
            StoreFiles.removeEmpty(directory, first);
        } catch (IOException e) {
            reason.addSuppressed(e);
        }
    }

    /**
     * Removes a member from the group of a store: it is not counted any more. It may be one that does not answer. Its
     * store is not opened any more.
     *
     * @param step is told, before each thing that may be waited for, who is asked and what for
     */
    public static void remove(Path store, Map<String, String> members, String name, Consumer<String> step) {
        transport().remove(file(store).group(), requireValid(members), name, step);
    }

    /** The same, and says nothing meanwhile. */
    public static void remove(Path store, Map<String, String> members, String name) {
        remove(store, members, name, step -> {});
    }

    private static Path logOf(Path directory, Path log) {
        Path absolute = directory.toAbsolutePath().normalize();
        return (log != null ? log : absolute.resolveSibling(absolute.getFileName() + ".raft")).toAbsolutePath();
    }

    /** The same with the place of the log. */
    static Group complete(Path directory, Group group) {
        transport();
        MemberFile file = file(directory);
        requireCounted(directory, file);
        if (file.self() != null && !file.self().equals(group.self)) {
            throw new SASException("the store " + directory + " is the member " + file.self() + " of its group, not "
                    + group.self);
        }
        Path log = logOf(directory, group.log != null ? group.log : file.log());
        return group.withLog(log);
    }

    /** What another member has sent, and the store does not have yet; null if there is nothing. */
    static Path received(Path directory, Group group) {
        return transport().received(file(directory).group(), group);
    }

    /** Connects an attached member, which has what was {@link #received}. */
    static Member connect(Store store, Path directory, Group group) throws IOException {
        MemberFile file = file(directory);
        GroupTransport.Opening opening = file.log() == null ? GroupTransport.Opening.FIRST
                : GroupTransport.Opening.LATER;
        return transport().connect(store, file.group(), group, opening, members -> new MemberFile(file.group(),
                group.self, members, group.log).write(directory));
    }

    static GroupTransport transport() {
        return ServiceLoader.load(GroupTransport.class, GroupTransport.class.getClassLoader()).findFirst()
                .orElseThrow(() -> new SASException("nothing carries records between members of a group: "
                        + "norn-sas-replica and Apache Ratis are not on the class path"));
    }
}
