package dev.norn.sas;

import dev.norn.sas.exception.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/** What carries records between the members of a group. An implementation is found as a service. */
public interface GroupTransport {
    /** Whether a member was connected before. */
    enum Opening {
        FIRST,
        /** It has a part of the group's log. Without it, it could vote against what it has acknowledged. */
        LATER
    }

    /**
     * Makes an attached store a member. It follows at first, and gets what it lacks.
     *
     * @param group with the directory of the log
     * @param keeper keeps who the members are: at first, and whenever one was added or removed
     * @throws dev.norn.sas.exception.StorageReadFailure if it has to have a log, and has none
     */
    Member connect(Store store, UUID id, Group group, Opening opening, MembersKeeper keeper) throws IOException;

    /** Keeps who the members of a group are, for when the member is opened again. */
    interface MembersKeeper {
        void keep(Map<String, String> members) throws IOException;
    }

    /** What another member has sent in the place of a store's files, and the store does not have yet; or null. */
    Path received(UUID id, Group group);

    /**
     * Makes a new member, in a new directory.
     *
     * @param step is told, before each thing that may be waited for, who is asked and what for
     */
    void join(Path directory, Group group, Consumer<String> step) throws IOException;

    /**
     * Removes a member.
     *
     * @param step as in {@link #join}
     * @throws dev.norn.sas.exception.SASException if the group cannot do it now, with the reason
     */
    void remove(UUID id, Map<String, String> members, String name, Consumer<String> step);

    /**
     * What became of a transaction, as the members know, which are asked for so long.
     *
     * @throws dev.norn.sas.exception.StorageReadFailure if none answers
     */
    Outcome outcome(UUID id, Map<String, String> members, long epoch, long number, Duration wait);

    /** Asks members how they are, and waits so long for answers. */
    List<MemberStatus> status(UUID id, Map<String, String> members, Duration wait);
}
