package dev.norn.crash.history;

import dev.norn.crash.history.Attempt.Fate;
import dev.norn.crash.history.Attempt.Kind;
import dev.norn.crash.history.Attempt.Use;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All transactions of a round, from the side files of its JVMs, and what may be said of them when the registers' lists
 * are known. As in Elle (Kingsbury and Alvaro 2020), lists of unique numbers give the order of the versions of each
 * register, and with it all dependencies:
 *
 * <ul>
 * <li>what was acknowledged is in the lists, at the place where it said;
 * <li>what was undone is not, and what was neither undone nor acknowledged is in all of its registers or in none;
 * <li>an earlier snapshot is a prefix of a later one;
 * <li>dependencies and real time have no cycle: the history is strictly serializable.
 * </ul>
 */
public final class History {
    private static final String END = " ;";

    private final Map<Long, Attempt> attempts = new HashMap<>();
    private final List<String> failures = new ArrayList<>();

    /** Reads all side files of a directory. */
    public static History read(Path journals) throws IOException {
        History history = new History();
        try (var files = Files.newDirectoryStream(journals, "*.journal")) {
            for (Path file : files) {
                for (String line : Files.readAllLines(file)) {
                    // What a kill cut off says nothing.
                    if (line.endsWith(END)) {
                        history.add(line.substring(0, line.length() - END.length()).split(" "));
                    }
                }
            }
        }
        return history;
    }

    private void add(String[] words) {
        long id = Long.parseLong(words[1]);
        long time = Long.parseLong(words[2]);
        List<String> rest = Arrays.asList(words).subList(3, words.length);
        switch (words[0]) {
            case "begin" -> {
                int[] appends = rest.isEmpty() ? new int[0]
                        : Arrays.stream(rest.getFirst().split(",")).mapToInt(Integer::parseInt).toArray();
                attempts.put(id, new Attempt(id, time, appends, Fate.UNKNOWN, Attempt.UNKNOWN, List.of()));
            }
            case "commit" -> attempts.compute(id,
                    (key, its) -> its.committed(time, rest.stream().map(Use::decode).toList()));
            case "undone" -> attempts.compute(id, (key, its) -> its.undone(time));
            case "failed" -> failures.add(id + ": " + String.join(" ", rest));
            default -> throw new IllegalArgumentException("no word of a journal: " + words[0]);
        }
    }

    /** How many transactions were acknowledged. */
    public long committed() {
        return attempts.values().stream().filter(its -> its.fate() == Fate.COMMITTED).count();
    }

    /** What no transaction may end with. */
    public List<String> failures() {
        return failures;
    }

    /**
     * The same history, without the acknowledgements of transactions for whose records no later record vouches: no
     * transaction that may have written began after such an acknowledgement.
     */
    public History withoutTail() {
        long last = attempts.values().stream().filter(its -> its.fate() == Fate.COMMITTED && its.appends().length > 0)
                .mapToLong(Attempt::begun).max().orElse(0);
        History history = new History();
        attempts.forEach((id, its) -> history.attempts.put(id, its.ended() < last || its.fate() != Fate.COMMITTED ? its
                : new Attempt(id, its.begun(), its.appends(), Fate.UNKNOWN, Attempt.UNKNOWN, List.of())));
        return history;
    }

    /**
     * What is wrong if {@code last} is what the registers have at the end, and {@code earlier} what they had before;
     * empty if nothing is.
     */
    public List<String> check(Snapshot last, List<Snapshot> earlier) {
        List<String> findings = new ArrayList<>(last.complaints());
        List<Map<Long, Integer>> places = allPlaces(last, findings);
        attempts.values().forEach(its -> checkAttempt(its, last, places, findings));
        for (Snapshot snapshot : earlier) {
            findings.addAll(snapshot.complaints());
            checkPrefix(snapshot, last, findings);
        }
        if (findings.isEmpty()) {
            List<Snapshot> all = new ArrayList<>(earlier);
            all.add(last);
            String cycle = new SerializationGraph(attempts.values(), last.ids(), places, all).cycle();
            if (cycle != null) {
                findings.add("no order of the transactions explains what they saw: " + cycle);
            }
        }
        return findings;
    }

    /**
     * What is wrong if the registers have this after a loss that was accepted: transactions are there as a whole or not
     * at all.
     */
    public List<String> checkCut(Snapshot snapshot) {
        List<String> findings = new ArrayList<>(snapshot.complaints());
        List<Map<Long, Integer>> places = allPlaces(snapshot, findings);
        attempts.values().stream()
                .filter(its -> its.fate() != Fate.UNDONE).forEach(its -> checkAtomicity(its, places, findings));
        return findings;
    }

    /** What is wrong if the lists of some snapshots are not the beginnings of those of a later one. */
    public static List<String> checkPrefixes(List<Snapshot> earlier, Snapshot later) {
        List<String> findings = new ArrayList<>();
        earlier.forEach(snapshot -> checkPrefix(snapshot, later, findings));
        return findings;
    }

    private List<Map<Long, Integer>> allPlaces(Snapshot snapshot, List<String> findings) {
        List<Map<Long, Integer>> places = new ArrayList<>();
        for (int register = 0; register < snapshot.ids().size(); register++) {
            places.add(places(register, snapshot.ids().get(register), findings));
        }
        return places;
    }

    private Map<Long, Integer> places(int register, long[] ids, List<String> findings) {
        Map<Long, Integer> places = new HashMap<>();
        for (int i = 0; i < ids.length; i++) {
            Attempt its = attempts.get(Math.abs(ids[i]));
            if (places.put(ids[i], i) != null) {
                findings.add("register " + register + " has " + ids[i] + " twice");
            } else if (its == null) {
                findings.add("register " + register + " has " + ids[i] + " at " + i + ", which no transaction began");
            } else if (ids[i] < 0) {
                findings.add("register " + register + " has at " + i + " what a nested run of "
                        + its.id() + " threw away");
            } else if (its.fate() == Fate.UNDONE) {
                findings.add("register " + register + " has " + ids[i] + " at " + i + ", which was undone");
            }
        }
        return places;
    }

    private static void checkAttempt(Attempt its, Snapshot last, List<Map<Long, Integer>> places,
            List<String> findings) {
        if (its.fate() == Fate.COMMITTED) {
            its.uses().forEach(use -> checkUse(its, use, last.ids().get(use.register()),
                    places.get(use.register()), findings));
        } else if (its.fate() == Fate.UNKNOWN) {
            checkAtomicity(its, places, findings);
        }
    }

    private static void checkAtomicity(Attempt its, List<Map<Long, Integer>> places, List<String> findings) {
        long there = Arrays.stream(its.appends())
                .filter(register -> places.get(register).containsKey(its.id())).count();
        if (there != 0 && there != its.appends().length) {
            findings.add(its.id() + " is in " + there + " of its " + its.appends().length + " registers");
        }
    }

    private static void checkUse(Attempt its, Use use, long[] ids, Map<Long, Integer> places, List<String> findings) {
        String register = "register " + use.register() + ": ";
        if (use.kind() == Kind.APPEND && (use.length() >= ids.length || ids[use.length()] != its.id())) {
            findings.add(register + its.id() + " was acknowledged as number " + use.length() + " and is lost: there is "
                    + (use.length() < ids.length ? ids[use.length()] : "nothing, the list ends at " + ids.length));
        } else if (use.kind() == Kind.READ_OF_LAST
                ? use.last() != 0 && !places.containsKey(use.last()) : !isLast(use, ids)) {
            findings.add(register + its.id() + " saw " + use.length() + " numbers to " + use.last()
                    + ", which are not there");
        }
    }

    private static boolean isLast(Use use, long[] ids) {
        return use.length() == 0 ? use.last() == 0 : use.length() <= ids.length && ids[use.length() - 1] == use.last();
    }

    private static void checkPrefix(Snapshot snapshot, Snapshot last, List<String> findings) {
        for (int register = 0; register < last.ids().size(); register++) {
            long[] before = snapshot.ids().get(register);
            int mismatch = Arrays.mismatch(before, last.ids().get(register));
            if (mismatch >= 0 && mismatch < before.length) {
                findings.add("register " + register + ": " + snapshot.name() + " has " + before[mismatch] + " at "
                        + mismatch + ", and later it is not there");
            }
        }
    }
}
