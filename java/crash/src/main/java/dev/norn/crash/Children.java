package dev.norn.crash;

import dev.norn.crash.Training.Role;
import dev.norn.crash.program.Assignment.Arm;
import dev.norn.crash.steps.ProgramJar;
import dev.norn.crash.steps.ProgramJar.Variant;
import dev.norn.crash.steps.StepTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** How child JVMs are started: quickly, as a round needs several. */
final class Children {
    static final String PROGRAM = "dev.norn.crash.program.Program";
    static final String INSPECTOR = "dev.norn.crash.program.Inspector";
    static final String THROWER = "dev.norn.crash.program.Thrower";
    private static final List<String> OPTIONS = List.of("-Xmx192m", "-Xss512k", "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xlog:disable", "-Xlog:all=error:stderr",
            "--enable-native-access=ALL-UNNAMED");

    private final ProgramJar jar;
    private final Path java;
    private List<Integer> named;
    /** The only steps at which JVMs that work are armed; empty if they are armed at any. */
    private List<Integer> only = List.of();
    /** How often each step was reached in the training, by JVMs of each role. */
    private final Map<Role, int[]> counts = new EnumMap<>(Role.class);

    private Children(ProgramJar jar) {
        this.jar = jar;
        java = Path.of(System.getProperty("java.home"), "bin", "java");
    }

    ProgramJar jar() {
        return jar;
    }

    /**
     * Builds their program, and trains them; what was built of the same parts before is used again. Where the parts are
     * is in system properties.
     */
    static Children prepare() throws IOException, InterruptedException {
        Children children = new Children(new ProgramJar(Path.of(System.getProperty("crash.build")),
                Path.of(System.getProperty("sas.jar")), Path.of(System.getProperty("crash.classes"))));
        children.build();
        return children;
    }

    private void build() throws IOException, InterruptedException {
        Path reached = jar.directory().resolve("reached.txt");
        if (jar.build()) {
            Files.deleteIfExists(reached);
        }
        named = StepTable.find(jar.sites());
        if (!Files.exists(reached)) {
            counts.putAll(new Training(this).run());
            Files.write(reached, counts.values().stream().map(Arrays::toString).toList());
            return;
        }
        List<String> lines = Files.readAllLines(reached);
        for (Role role : Role.values()) {
            counts.put(role, Arrays.stream(lines.get(role.ordinal()).replaceAll("[\\[\\] ]", "").split(","))
                    .mapToInt(Integer::parseInt).toArray());
        }
    }

    /**
     * Arms JVMs that work at the steps whose names begin so, and at no others, so that several JVMs meet at them; at
     * any if there are no beginnings.
     *
     * @throws IllegalStateException if the code has no step of one of these beginnings
     */
    void limitSteps(List<String> beginnings) {
        only = beginnings.stream()
                .flatMap(beginning -> StepTable.numbers(jar.sites(), beginning).stream()).distinct().toList();
    }

    /**
     * Steps at which something befalls a JVM of this role: those to which it is limited, or named ones, one after the
     * other from JVM to JVM, and any that the training reached.
     */
    List<Arm> arms(Role role, long number, Random random) {
        if (role == Role.WORK && !only.isEmpty()) {
            return only.stream().map(site -> arm(site, counts.get(role)[site], random)).toList();
        }
        List<Arm> arms = new ArrayList<>();
        if (role == Role.WORK && random.nextInt(3) > 0) {
            int site = named.get((int) Math.floorMod(number, named.size()));
            arms.add(arm(site, counts.get(role)[site], random));
        }
        while (arms.isEmpty() || random.nextInt(3) == 0) {
            int[] reached = counts.get(role);
            int site = random.nextInt(reached.length);
            if (reached[site] > 0) {
                arms.add(arm(site, reached[site], random));
            }
        }
        return arms;
    }

    /** Few reaches as likely as many, but not more than the training has seen. */
    private static Arm arm(int site, int most, Random random) {
        int count = 1 + random.nextInt(Math.clamp(most, 1, 1 << random.nextInt(9)));
        return new Arm(site, count, random.nextInt(3) > 0 ? Arm.Action.KILL : Arm.Action.PAUSE,
                1 + random.nextInt(300));
    }

    String describe(Arm arm) {
        return arm.action() + (arm.action() == Arm.Action.PAUSE ? " for " + arm.millis() + " ms" : "") + " at reach "
                + arm.count() + " of " + jar.sites().get(arm.site());
    }

    Path jcmd() {
        return java.resolveSibling("jcmd");
    }

    List<String> command(Variant variant, List<String> options, String program, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(java.toString()));
        command.addAll(OPTIONS);
        command.addAll(options);
        command.addAll(List.of("-cp", jar.classPath(variant), program));
        command.addAll(arguments);
        return command;
    }

    /** Starts one with what was made ready for a quick start. */
    Child start(String name, Variant variant, String program, List<String> arguments, Path errors) throws IOException {
        Path cache = jar.cache(variant);
        List<String> options = Files.exists(cache) ? List.of("-XX:AOTCache=" + cache) : List.of();
        return new Child(name, command(variant, options, program, arguments), errors);
    }
}
