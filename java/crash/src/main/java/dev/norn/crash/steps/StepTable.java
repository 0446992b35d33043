package dev.norn.crash.steps;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The named steps of {@code steps.txt}. */
public final class StepTable {
    private StepTable() {}

    /**
     * The numbers of the named steps, those before and those after the calls.
     *
     * @throws IllegalStateException if the code has no such call
     */
    public static List<Integer> find(List<String> sites) {
        List<Integer> found = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (String line : lines()) {
            String[] words = line.split("\\s+");
            String site = words[0] + ">" + words[1] + (words[1].contains("#") ? "" : "#1");
            int before = sites.indexOf(site + " before");
            if (before < 0) {
                missing.add(line.replaceAll("\\s+", " calls "));
            } else {
                found.add(before);
                found.add(sites.indexOf(site + " after"));
            }
        }
        if (!missing.isEmpty()) {
            throw new IllegalStateException("steps.txt names calls that the store's code does not have; "
                    + "name those that took their place: " + String.join("; ", missing));
        }
        return found;
    }

    /**
     * The number of one step.
     *
     * @throws IllegalStateException if the code has no such call
     */
    public static int number(List<String> sites, String step) {
        int number = sites.indexOf(step);
        if (number < 0) {
            throw new IllegalStateException("the store's code has no step " + step + "; name what took its place");
        }
        return number;
    }

    /**
     * The numbers of the steps whose names begin so.
     *
     * @throws IllegalStateException if the code has none
     */
    public static List<Integer> numbers(List<String> sites, String beginning) {
        List<Integer> found = IntStream.range(0, sites.size())
                .filter(site -> sites.get(site).startsWith(beginning)).boxed().toList();
        if (found.isEmpty()) {
            throw new IllegalStateException("the store's code has no step whose name begins with " + beginning);
        }
        return found;
    }

    private static List<String> lines() {
        try (var file = StepTable.class.getResourceAsStream("/dev/norn/crash/steps.txt");
                var lines = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
            return lines.lines().map(String::strip).filter(line -> !line.isEmpty() && !line.startsWith("#")).toList();
        } catch (IOException e) {
            throw new IllegalStateException("steps.txt cannot be read", e);
        }
    }
}
