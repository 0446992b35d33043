package dev.norn.sas.command;

import dev.norn.sas.Group;
import dev.norn.sas.MemberStatus;
import dev.norn.sas.Store;
import dev.norn.sas.exception.Outcome;
import dev.norn.sas.exception.SASException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code sas found}, {@code join}, {@code remove}, {@code status} and {@code outcome}: groups of members with the same
 * store.
 */
final class GroupCommands {
    /** Kept, since a logger that nobody has forgets its level. */
    private static final Logger RATIS = Logger.getLogger("org.apache.ratis");
    /**
     * The connections of a member that is closed warn, with stack traces, of others that still call it. What fails for
     * good is said by the command itself.
     */
    private static final Logger CONNECTIONS = Logger.getLogger("org.apache.ratis.thirdparty");
    private static final String LOGGING = "slf4j.internal.verbosity";

    private GroupCommands() {}

    /** Apache Ratis says on standard error that nothing takes its messages: only a developer wants to know. */
    private static void requireQuiet() {
        RATIS.setLevel(Level.WARNING);
        CONNECTIONS.setLevel(Level.SEVERE);
        if (System.getProperty(LOGGING) == null) {
            System.setProperty(LOGGING, "ERROR");
        }
    }

    /** The option that names a group's members. */
    static final class Members {
        @Option(names = "--group", paramLabel = "NAME=HOST:PORT", split = ",",
                description = "all members of the group, for example a=10.0.0.1:7001,b=10.0.0.2:7001,c=10.0.0.3:7001; "
                        + "the same at all members (default: as the member was opened last)")
        private Map<String, String> members;

        boolean isGiven() {
            return members != null;
        }

        Map<String, String> of(Path store) {
            requireQuiet();
            if (members != null) {
                return Group.requireValid(members);
            }
            Group last = Group.of(store);
            if (last == null) {
                throw new SASException("the member with the store " + store + " was never opened: name its group with "
                        + "--group");
            }
            return last.members();
        }
    }

    @Command(name = "found", description = {"Make a store the first member of a group, and copy it for the other "
            + "members, one COPY for each: their machines get these directories.",
        "No program uses the store. `sas server STORE --group` opens a member."})
    static final class Found extends SasCommand.OnStore {
        @Parameters(index = "1..*", paramLabel = "COPY", description = "new directories")
        private List<Path> copies = List.of();

        @Override
        public Integer call() {
            Group.found(directory(), copies);
            print(directory() + " is the store of the first member of a new group"
                    + copies.stream().map(copy -> "\n" + copy + " is the store of another one, for its machine")
                            .collect(Collectors.joining()));
            print("next, on each machine: sas server DIRECTORY --self NAME --group NAME=HOST:PORT,..., "
                    + "with all members in --group");
            return 0;
        }

        @Override
        int run(Store store) {
            return 0;
        }
    }

    @Command(name = "join", description = {"Make a new member of a group that runs, in the new directory STORE: "
            + "it gets a copy of the store from the leader. `sas server STORE` opens it then; do so soon, as the group "
            + "counts it.",
        "A member that has lost its disk is removed with `sas remove`, and another one joins under another name."})
    static final class Join extends SasCommand.OnStore {
        @picocli.CommandLine.Mixin
        private Members members;
        @Option(names = "--self", paramLabel = "NAME", required = true,
                description = "the new member's name, which no member ever had")
        private String self;
        @Option(names = "--group-log", paramLabel = "DIRECTORY",
                description = "the member's part of the group's log (default: STORE.raft)")
        private Path groupLog;
        @Option(names = "--wait", paramLabel = "SECONDS", defaultValue = "1800",
                description = "how long it may take, with the copy (default: ${DEFAULT-VALUE})")
        private int waitSeconds;

        @Override
        public Integer call() throws InterruptedException {
            if (!members.isGiven()) {
                throw new SASException("name the members of the group, and the new one, with --group");
            }
            Group group = new Group(self, members.of(directory()), groupLog);
            new TimedWork(this::print).run(waitSeconds, "Do not use this name and this directory again: join under "
                    + "another name, in a new directory. If `sas status` shows " + self + " then, remove it",
                    step -> Group.join(directory(), group, step));
            print(self + " has a copy of the store and counts. Open it now: sas server " + directory());
            return 0;
        }

        @Override
        int run(Store store) {
            return 0;
        }
    }

    @Command(name = "remove", description = "Remove a member from the group of STORE, also one that does not answer. "
            + "It is not counted any more, and its store not opened any more.")
    static final class Remove extends SasCommand.OnStore {
        @Parameters(index = "1", paramLabel = "NAME", description = "the member")
        private String name;
        @picocli.CommandLine.Mixin
        private Members members;
        @Option(names = "--wait", paramLabel = "SECONDS", defaultValue = "60",
                description = "how long it may take (default: ${DEFAULT-VALUE})")
        private int waitSeconds;

        @Override
        public Integer call() throws InterruptedException {
            Map<String, String> all = members.of(directory());
            new TimedWork(this::print).run(waitSeconds, "It is safe to try again: if the member was removed meanwhile, "
                    + "the command says that there is none of this name",
                    step -> Group.remove(directory(), all, name, step));
            print("the group goes on without " + name);
            return 0;
        }

        @Override
        int run(Store store) {
            return 0;
        }
    }

    @Command(name = "outcome", description = {"Say what became of the transaction that an "
            + "OutcomeUnknown names: committed, undone, not-yet (no next leader has begun: ask again), or forgotten "
            + "(32 leaders have ended since).", "The status is 1 if it is not yet known, or forgotten."})
    static final class OutcomeOf extends SasCommand.OnStore {
        @Parameters(index = "1", paramLabel = "EPOCH", description = "as the exception says")
        private long epoch;
        @Parameters(index = "2", paramLabel = "NUMBER", description = "as the exception says")
        private long number;
        @picocli.CommandLine.Mixin
        private Members members;

        @Override
        public Integer call() {
            Outcome outcome = Group.outcome(directory(), members.of(directory()), epoch, number);
            print(outcome.name().toLowerCase(Locale.ROOT).replace('_', '-'));
            return outcome == Outcome.COMMITTED || outcome == Outcome.UNDONE ? 0 : 1;
        }

        @Override
        int run(Store store) {
            return 0;
        }
    }

    @Command(name = "status", description = {"Show the members of the store's group: role, term of the last election, "
            + "index of the last entry of the group's log that the store has taken, number of the last transaction, "
            + "and lag: how many acknowledged transactions the member has not. A lag that is small, or becomes "
            + "smaller, is healthy; a member whose lag grows for minutes is too slow for the load.",
        "The status is 1 if no member leads, or one is unreachable or not usable."})
    static final class Status extends SasCommand.OnStore {
        private static final String ROW = "%-12s %-11s %8s %10s %10s %8s  %s";

        @picocli.CommandLine.Mixin
        private Members members;
        @Option(names = "--wait", paramLabel = "SECONDS", defaultValue = "5",
                description = "how long to wait for a member that does not answer (default: ${DEFAULT-VALUE})")
        private int waitSeconds;

        @Override
        public Integer call() {
            TimedWork.requireWait(waitSeconds);
            List<MemberStatus> all = Group.status(directory(), members.of(directory()),
                    java.time.Duration.ofSeconds(waitSeconds));
            print(String.format(ROW, "member", "role", "term", "applied", "number", "lag", "address"));
            all.forEach(one -> print(String.format(ROW, one.name(),
                    one.role().name().toLowerCase(Locale.ROOT), count(one.term()), count(one.applied()),
                    count(one.number()), count(one.lag()),
                    one.address() + (one.problem() == null ? "" : " " + one.problem()))));
            boolean isLed = all.stream().anyMatch(one -> one.role() == MemberStatus.Role.LEADER);
            return isLed && all.stream().allMatch(one -> one.role() == MemberStatus.Role.LEADER
                    || one.role() == MemberStatus.Role.FOLLOWER) ? 0 : 1;
        }

        private static String count(long number) {
            return number < 0 ? "-" : Long.toString(number);
        }

        @Override
        int run(Store store) {
            return 0;
        }
    }
}
