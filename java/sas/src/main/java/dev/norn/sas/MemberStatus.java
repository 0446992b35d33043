package dev.norn.sas;

/**
 * How a member of a group is.
 *
 * @param name of the member
 * @param address as {@code host:port}
 * @param role what it is
 * @param term of the last election that it knows of; -1 if unreachable
 * @param applied index of the last entry of the group's log that its store has taken; -1 if unreachable
 * @param number of the last transaction that it has; -1 if unreachable
 * @param lag how many acknowledged transactions it has not; -1 if it or the leader is unreachable
 * @param problem why it is unreachable, as what follows its name in a sentence; null if it is not
 */
public record MemberStatus(String name, String address, Role role, long term, long applied, long number, long lag,
        String problem) {
    /** What a member is. */
    public enum Role {
        LEADER, FOLLOWER,
        /** It knows no leader, and asks for votes. */
        CANDIDATE,
        /** It has led, or its store has failed: it is to be opened again. */
        UNUSABLE,
        /** It does not answer. */
        UNREACHABLE
    }

    public static MemberStatus unreachable(String name, String address, String problem) {
        return new MemberStatus(name, address, Role.UNREACHABLE, -1, -1, -1, -1, problem);
    }
}
