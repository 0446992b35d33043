package dev.norn.sas;

import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageReadFailure;
import dev.norn.sas.exception.StorageWriteFailure;
import dev.norn.sas.store.memory.MemberFile;
import dev.norn.sas.store.memory.StoreFiles;
import dev.norn.sas.store.replica.ReplicaStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.TreeMap;

/**
 * A group of members, each of which has a copy of one store, and which of them this JVM is: for
 * {@link Store#open(Path, Group)}. What carries records between them is found on the class path:
 * {@code norn-sas-replica}, and Apache Ratis with it.
 *
 * @param self the name of this JVM's member
 * @param members addresses, as {@code host:port}, of all members by their names; the same at all members
 * @param log the directory of the member's part of the group's log; null for one beside the store's directory, with
 *     {@code .raft} after its name
 */
public record Group(String self, Map<String, String> members, Path log) {
    public Group {
        Objects.requireNonNull(self, "the member's own name is null");
        members = Map.copyOf(requireValid(members));
        if (!members.containsKey(self)) {
            throw new SASException("the group " + new TreeMap<>(members) + " has no member " + self);
        }
    }

    /** The same with the log beside the store's directory. */
    public Group(String self, Map<String, String> members) {
        this(self, members, null);
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
        return file.members() == null ? null : new Group(file.self(), file.members(), file.log());
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

    /**
     * Asks each of these members of a store's group how it is. Costs a message to each, all at once, and some seconds
     * if one does not answer.
     */
    public static List<MemberStatus> status(Path store, Map<String, String> members) {
        return transport().status(file(store).group(), requireValid(members));
    }

    /** Connects an attached member. */
    static Member connect(Store store, Path directory, Group group) throws IOException {
        MemberFile file = file(directory);
        Path log = (group.log != null ? group.log : file.log() != null ? file.log()
                : directory.toAbsolutePath().normalize().resolveSibling(directory.toAbsolutePath().normalize()
                        .getFileName() + ".raft")).toAbsolutePath();
        if (file.self() != null && !file.self().equals(group.self)) {
            throw new SASException("the store " + directory + " is the member " + file.self() + " of its group, not "
                    + group.self);
        }
        GroupTransport transport = transport();
        GroupTransport.Opening opening = file.log() == null ? GroupTransport.Opening.FIRST
                : GroupTransport.Opening.LATER;
        Member member = transport.connect(store, file.group(), new Group(group.self, group.members, log), opening);
        try {
            new MemberFile(file.group(), group.self, group.members, log).write(directory);
        } catch (IOException | RuntimeException e) {
            member.close();
            throw e;
        }
        return member;
    }

    static GroupTransport transport() {
        return ServiceLoader.load(GroupTransport.class, GroupTransport.class.getClassLoader()).findFirst()
                .orElseThrow(() -> new SASException("nothing carries records between members of a group: "
                        + "norn-sas-replica and Apache Ratis are not on the class path"));
    }
}
