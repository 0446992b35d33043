package dev.norn.sas;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;

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
     * @throws dev.norn.sas.exception.StorageReadFailure if it has to have a log, and has none
     */
    Member connect(Store store, UUID id, Group group, Opening opening) throws IOException;

    /** Asks members how they are. */
    List<MemberStatus> status(UUID id, Map<String, String> members);
}
