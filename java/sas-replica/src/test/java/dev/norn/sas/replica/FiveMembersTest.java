package dev.norn.sas.replica;

import static org.junit.jupiter.api.Assertions.fail;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Five members, of which any two are killed, frozen, cut off from the others in both directions or in one, or have no
 * room on their disk, while clients count at whoever leads and read everywhere. The time of day is another one at three
 * of them, a day ahead and running fast, or behind and slow. What the clients have seen is
 * linearizable, and nothing that was acknowledged is lost. In each round, the group goes on with the other three, and
 * with all five at its end.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FiveMembersTest {
    /** 0: three members, of which the one that leads is cut off. */
    private static final int FIVE = Integer.getInteger("replica.five", 0);
    private static final int ROUNDS = Math.max(1, FIVE);
    private static final long SEED = Long.getLong("replica.seed", 1);
    private static final List<String> NAMES = FIVE == 0 ? List.of("a", "b", "c") : List.of("a", "b", "c", "d", "e");
    private static final String SMALL_DISK = NAMES.getLast();
    private static final Map<String, NetworkGroup.Clock> CLOCKS = FIVE == 0 ? Map.of() : Map.of(
            "a", new NetworkGroup.Clock(86_400, 1.5), "b", new NetworkGroup.Clock(-2400, 0.5),
            "d", new NetworkGroup.Clock(3, 1.01));
    /** As many as a group can do without. */
    private static final int HIT = (NAMES.size() - 1) / 2;
    private static final int CLIENTS = 2;
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(300);
    private static final int ACKNOWLEDGED = 20;
    private static final int COUNTS_TO_FILL_LOG = 1000;

    @TempDir
    Path directory;
    private final Random random = new Random(SEED);

    /** What happens to some members. */
    private enum Fault {
        KILL, FREEZE, CUT_OFF, MUTE, DEAFEN, FILL_DISK
    }

    @Test
    void whatClientsHaveSeenIsLinearizable() throws Exception {
        Assumptions.assumeTrue(NetworkGroup.isPossible(), "needs root, and ip of iproute2");
        System.out.println("-Dreplica.five=" + FIVE + " -Dreplica.seed=" + SEED);
        try (NetworkGroup group = new NetworkGroup(directory, NAMES, SMALL_DISK, CLOCKS)) {
            for (String name : NAMES) {
                group.start(name, CLIENTS);
            }
            awaitProgress(group, "the beginning");
            List<Fault> faults = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                if (FIVE == 0) {
                    faults.add(Fault.CUT_OFF);
                } else if (faults.isEmpty()) {
                    Collections.addAll(faults, Fault.values());
                    Collections.shuffle(faults, random);
                }
                runRound(group, faults.removeLast(), "round " + round);
            }
            group.history.check(group.stop());
            System.out.println(group.history.acknowledgements() + " counts acknowledged, "
                    + group.history.unknown.size() + " unknown, " + group.history.reads() + " reads");
        }
    }

    private void runRound(NetworkGroup group, Fault fault, String round) throws Exception {
        Set<String> hit = fault == Fault.FILL_DISK ? Set.of(SMALL_DISK) : choose(group.history.leader.get());
        Set<String> others = new TreeSet<>(NAMES);
        if (fault != Fault.FILL_DISK) {
            others.removeAll(hit);
        }
        String what = round + ": " + fault + " " + hit;
        long start = System.nanoTime();
        begin(group, fault, hit, others);
        awaitProgressAt(group, others, what);
        long millis = (System.nanoTime() - start) / 1_000_000;
        if (fault == Fault.FILL_DISK) {
            // It goes on while its store's log has room, and has to make way then.
            long counts = group.history.acknowledgements();
            while (group.history.acknowledgements() < counts + COUNTS_TO_FILL_LOG) {
                awaitProgress(group, what + ", later");
            }
        }
        Thread.sleep(1500);
        end(group, fault, hit);
        awaitProgress(group, what + ", ended");
        System.out.println(what + ": others go on after " + millis + " ms");
    }

    /** Some, of which one leads, more often than not. */
    private Set<String> choose(String leader) {
        List<String> all = new ArrayList<>(NAMES);
        Collections.shuffle(all, random);
        Set<String> hit = new HashSet<>();
        if (FIVE == 0 || random.nextInt(3) > 0) {
            hit.add(leader);
        }
        for (int i = 0; hit.size() < HIT; i++) {
            hit.add(all.get(i));
        }
        return new TreeSet<>(hit);
    }

    private static void begin(NetworkGroup group, Fault fault, Set<String> hit, Set<String> others) throws Exception {
        switch (fault) {
            case KILL -> {
                for (String name : hit) {
                    group.children.get(name).process.destroyForcibly().waitFor();
                }
            }
            case FREEZE -> {
                for (String name : hit) {
                    group.children.get(name).signal("STOP");
                }
            }
            case CUT_OFF -> {
                group.drop(hit, others);
                group.drop(others, hit);
            }
            case MUTE -> group.drop(hit, others);
            case DEAFEN -> group.drop(others, hit);
            case FILL_DISK -> group.fillDisk();
        }
    }

    private static void end(NetworkGroup group, Fault fault, Set<String> hit) throws Exception {
        for (String name : hit) {
            switch (fault) {
                case KILL -> group.start(name, CLIENTS).await("open");
                case FREEZE -> group.children.get(name).signal("CONT");
                default -> { }
            }
        }
        group.heal();
        group.emptyDisk();
    }

    private static void awaitProgress(NetworkGroup group, String what) throws Exception {
        awaitProgressAt(group, Set.copyOf(NAMES), what);
    }

    /** Waits until one of these leads, and counts. */
    private static void awaitProgressAt(NetworkGroup group, Set<String> where, String what) throws Exception {
        long end = System.nanoTime() + WAIT_NANOS;
        for (int seen = 0; seen < ACKNOWLEDGED;) {
            group.history.leader.set("");
            Thread.sleep(5);
            if (where.contains(group.history.leader.get())) {
                seen++;
            }
            if (System.nanoTime() > end) {
                fail(what + ": no counts are acknowledged\n" + group.report());
            }
        }
        while (group.history.leader.get().isEmpty()) {
            Thread.sleep(1);
        }
    }
}
