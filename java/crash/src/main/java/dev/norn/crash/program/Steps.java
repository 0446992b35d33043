package dev.norn.crash.program;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What instrumented code of the store calls at each step. Costs a load and a comparison where nothing is armed, as most
 * of a short JVM's time is in code that is interpreted.
 */
public final class Steps {
    private static final int SIGKILL = 9;
    /** Of a JVM that only counts how often each step is reached, where it writes that; null otherwise. */
    private static final String COUNTS_FILE = System.getProperty("crash.counts");
    private static final int SITES_MAX = 1 << 14;
    private static final AtomicIntegerArray COUNTS = COUNTS_FILE == null ? null : new AtomicIntegerArray(SITES_MAX);

    /** Where the parent reads, also while a task has its own standard output. */
    private static final PrintStream PARENT = System.out;

    /** Where something happens: everywhere in a JVM that counts, and where things are thrown. */
    private static final boolean[] WATCHED = new boolean[SITES_MAX];

    static {
        if (COUNTS != null) {
            Arrays.fill(WATCHED, true);
        }
    }

    private record State(Assignment.Arm arm, AtomicInteger left) {}

    private static State[] armed = {};
    private static MethodHandle kill;
    /** What is thrown inside latched sections; null in a JVM where nothing is. */
    private static LatchedSections latched;

    private Steps() {}

    static void arm(List<Assignment.Arm> arms) {
        kill = Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow("kill"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        int most = arms.stream().mapToInt(Assignment.Arm::site).max().orElse(-1);
        State[] states = new State[most + 1];
        for (Assignment.Arm arm : arms) {
            states[arm.site()] = new State(arm, new AtomicInteger(arm.count()));
        }
        armed = states;
        arms.forEach(arm -> WATCHED[arm.site()] = true);
    }

    static void throwIn(LatchedSections sections) {
        latched = sections;
        Arrays.fill(WATCHED, true);
    }

    /** Whether a step has thrown it, or what led to it. */
    static boolean hasThrown(Throwable e) {
        return latched != null && latched.hasThrown(e);
    }

    /** Called by instrumented code. */
    public static void at(int site) {
        if (WATCHED[site]) {
            watch(site);
        }
    }

    private static void watch(int site) {
        if (COUNTS != null) {
            COUNTS.incrementAndGet(site);
        }
        if (latched != null) {
            latched.at(site);
        }
        State[] states = armed;
        if (site < states.length && states[site] != null) {
            reach(states[site]);
        }
    }

    private static void reach(State state) {
        if (state.left.decrementAndGet() != 0) {
            return;
        }
        PARENT.println("reached " + state.arm.site());
        switch (state.arm.action()) {
            case KILL -> kill();
            case PAUSE -> LockSupport.parkNanos(state.arm.millis() * 1_000_000L);
        }
    }

    /** Writes how often each step was reached, if this JVM counts. */
    static void writeCounts() throws IOException {
        if (COUNTS != null) {
            Files.writeString(Path.of(COUNTS_FILE), IntStream.range(0, SITES_MAX)
                    .mapToObj(site -> "" + COUNTS.get(site)).collect(Collectors.joining("\n")));
        }
    }

    private static void kill() {
        try {
            int result = (int) kill.invokeExact((int) ProcessHandle.current().pid(), SIGKILL);
            throw new AssertionError("kill returned " + result);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
