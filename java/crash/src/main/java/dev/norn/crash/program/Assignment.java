package dev.norn.crash.program;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What a child JVM has to do.
 *
 * @param store the store's directory
 * @param journals the directory of the side files; their names begin with the process's number
 * @param process a number that no other JVM of the round has
 * @param pauseMillis how long each thread rests between two transactions
 * @param arms what happens at steps
 */
public record Assignment(Path store, Path journals, int process, int threads, int pauseMillis, long seed,
        Set<Hazard> hazards, List<Arm> arms) {
    /**
     * What happens at a step.
     *
     * @param site the number of the step in the list of sites
     * @param count the how many-th time, from 1
     * @param action what
     * @param millis how long a pause takes
     */
    public record Arm(int site, int count, Action action, int millis) {
        public enum Action { KILL, PAUSE }

        public String encode() {
            return site + ":" + count + ":" + action + ":" + millis;
        }

        static Arm decode(String text) {
            String[] parts = text.split(":");
            return new Arm(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Action.valueOf(parts[2]),
                    Integer.parseInt(parts[3]));
        }
    }

    /** The arguments of {@link Worker}'s JVM. */
    public List<String> encode() {
        List<String> words = new ArrayList<>(List.of(store.toString(), journals.toString(), "" + process, "" + threads,
                "" + pauseMillis, "" + seed));
        words.add(String.join(",", hazards.stream().map(Enum::name).toList()));
        arms.forEach(arm -> words.add(arm.encode()));
        return words;
    }

    static Assignment decode(String[] words) {
        Set<Hazard> hazards = EnumSet.noneOf(Hazard.class);
        for (String name : words[6].isEmpty() ? new String[0] : words[6].split(",")) {
            hazards.add(Hazard.valueOf(name));
        }
        List<Arm> arms = List.of(words).subList(7, words.length).stream().map(Arm::decode).toList();
        return new Assignment(Path.of(words[0]), Path.of(words[1]), Integer.parseInt(words[2]),
                Integer.parseInt(words[3]), Integer.parseInt(words[4]), Long.parseLong(words[5]), hazards, arms);
    }
}
