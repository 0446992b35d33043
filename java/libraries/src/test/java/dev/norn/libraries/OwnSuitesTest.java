package dev.norn.libraries;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Libraries from Maven Central, transformed and otherwise unchanged, pass their own test suites, which are transformed
 * too as they are in the same packages. What fails has to fail without the agent as well, or to be a test that counts a
 * class's members, of which the agent adds some. A part of the suites, of those that take little time, runs always, all
 * of them with {@code -Dlibraries.whole=true}, which takes some ten minutes.
 */
class OwnSuitesTest {
    private static final boolean IS_WHOLE = Boolean.getBoolean("libraries.whole");
    /** These need a benchmark harness. */
    private static final String NEVER = ".*(Performance|PerfRun|Benchmark|jmh).*";
    /** Tests that look at members or interfaces by reflection, and count them. */
    private static final Pattern COUNTS_MEMBERS = Pattern.compile(".*("
            + "testConstructor\\(\\)|hasOnlyOnePublicConstructor\\(\\)"
            + "|FieldUtilsTest\\]/\\[method:testGetAllFields(List)?\\(\\)"
            + "|ClassUtilsTest\\]/\\[method:(testHierarchyIncludingInterfaces|test_getAllInterfaces_Class)\\(\\))\\]");

    @TempDir
    Path directory;

    @Test
    void commonsLang() throws Exception {
        String part = "org.apache.commons.lang3.(tuple|mutable|event|stream|text.translate|Bit|CharRange|CharSet"
                + "|Functions|Range|Enum|builder.(Compare|Diff)).*";
        check("commons-lang3", "org.apache.commons.lang3", IS_WHOLE ? ".*" : part, NEVER, IS_WHOLE ? 50_000 : 500);
    }

    @Test
    void commonsCollections() throws Exception {
        String part =
                "org.apache.commons.collections4.(bag|comparators|iterators|keyvalue|list|queue|set|trie|bidimap).*";
        check("commons-collections4", "org.apache.commons.collections4", IS_WHOLE ? ".*" : part, NEVER,
                IS_WHOLE ? 12_000 : 1_000);
    }

    @Test
    void commonsText() throws Exception {
        String part = "org.apache.commons.text.(diff|lookup|matcher|StrBuilder|StringTokenizer).*";
        check("commons-text", "org.apache.commons.text", IS_WHOLE ? ".*" : part, NEVER, IS_WHOLE ? 1_300 : 300);
    }

    private void check(String library, String packages, String included, String excluded, int testsMin)
            throws Exception {
        Path tests = Jvm.jar(library, "-tests.jar");
        Map<String, String> transformed = run("transformed", tests, included, excluded, Jvm.sasAgent(packages));
        assertTrue(transformed.size() >= testsMin,
                transformed.size() + " tests of " + library + " ran, of at least " + testsMin);
        Map<String, String> failed = new TreeMap<>(transformed);
        failed.values().removeIf(outcome -> !outcome.startsWith("FAILED"));
        failed.keySet().removeIf(test -> COUNTS_MEMBERS.matcher(test).matches());
        if (!failed.isEmpty()) {
            List<String> classes = new ArrayList<>();
            failed.keySet().forEach(test -> Pattern.compile("\\[(class|runner):([^\\]]+)\\]").matcher(test).results()
                    .forEach(found -> classes.add(Pattern.quote(found.group(2)))));
            Map<String, String> plain = run("plain", tests, String.join("|", classes), excluded,
                    "-Dlibraries.plain=true");
            failed.keySet().removeIf(test -> plain.getOrDefault(test, "").startsWith("FAILED"));
        }
        assertEquals(Map.of(), failed, "these pass without the agent");
        System.err.println(library + ": " + transformed.size() + " tests transformed");
    }

    private Map<String, String> run(String name, Path tests, String included, String excluded, String agent)
            throws IOException, InterruptedException {
        Path out = directory.resolve(name);
        Path log = directory.resolve(name + ".log");
        List<String> options = new ArrayList<>(List.of(agent));
        // What the suites' own builds open.
        for (String opened : List.of("java.lang", "java.lang.reflect", "java.lang.invoke", "java.util",
                "java.util.concurrent", "java.util.stream", "java.util.regex", "java.time", "java.time.chrono",
                "java.text", "java.io", "java.math")) {
            options.add("--add-opens=java.base/" + opened + "=ALL-UNNAMED");
        }
        int exit = new Jvm().with(options.toArray(String[]::new))
                .run(log, SuiteProgram.class, tests, out, included, excluded);
        List<String> said = Files.readAllLines(log, java.nio.charset.StandardCharsets.ISO_8859_1);
        assertEquals(0, exit, () -> String.join("\n", said));
        assertEquals(List.of(), said.stream().filter(line -> line.startsWith("sas: ")).toList());
        Map<String, String> outcomes = new HashMap<>();
        for (String line : Files.readAllLines(out)) {
            String[] words = line.split("\t", 2);
            outcomes.put(words[0], words[1]);
        }
        return outcomes;
    }
}
